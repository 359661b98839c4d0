import * as z from "zod/mini";
import { CompactionResult } from "../vocabulary/session-event.ts";
import { command } from "./command.ts";

const enabled = () =>
  z.object({
    /** Whether it is enabled. */
    enabled: z.boolean(),
  });

/** Keeping the conversation within the model's window, and recovering from transient errors. */
export const compactionCommands = {
  compact: command({
    summary: "Replaces older messages with a summary.",
    params: () =>
      z.object({
        /** Additional instructions for the summary. */
        customInstructions: z.optional(z.string()),
      }),
    result: () => CompactionResult,
    positional: ["customInstructions"],
    awaitsSessionChange: true,
    takesLong: true,
    beginsWork: true,
  }),
  set_auto_compaction: command({
    summary: "Switches automatic compaction on or off for this session.",
    params: enabled,
    positional: ["enabled"],
  }),
  set_auto_retry: command({
    summary: "Switches automatic retry of transient errors on or off for this session.",
    params: enabled,
    positional: ["enabled"],
  }),
  abort_retry: command({
    summary: "Ends a pending retry.",
    answersAtOnce: true,
  }),
};
