import { CLEARED_ENTRY } from "./cleared-results.ts";
import { ENVIRONMENT_ENTRY } from "./environment-note.ts";
import { LOADED_TOOLS_ENTRY } from "./loaded-tools.ts";
import { USAGE_ENTRY } from "./session-totals.ts";

/** The type of the custom entry that holds what requests begin with. */
export const SETUP_ENTRY = "request_setup";

/** Types of custom entries that the host writes for itself: they tell a reader of the conversation nothing. */
export const hostNotes: ReadonlySet<string> = new Set([
  CLEARED_ENTRY,
  ENVIRONMENT_ENTRY,
  LOADED_TOOLS_ENTRY,
  SETUP_ENTRY,
  USAGE_ENTRY,
]);
