import { CLEARED_ENTRY } from "./cleared-results.ts";
import { ENVIRONMENT_ENTRY } from "./environment-note.ts";
import { LOADED_TOOLS_ENTRY } from "./loaded-tools.ts";
import { USAGE_ENTRY } from "./session-totals.ts";

/** The type of the custom entry with the beginning of requests. */
export const SETUP_ENTRY = "request_setup";

/** Types of custom entries that the host writes for itself; readers of the conversation can ignore them. */
export const hostNotes: ReadonlySet<string> = new Set([
  CLEARED_ENTRY,
  ENVIRONMENT_ENTRY,
  LOADED_TOOLS_ENTRY,
  SETUP_ENTRY,
  USAGE_ENTRY,
]);
