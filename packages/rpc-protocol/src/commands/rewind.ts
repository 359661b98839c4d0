import * as z from "zod/mini";
import { Checkpoint, RewindFiles } from "../vocabulary/rewind.ts";
import { command } from "./command.ts";

/** Files as they were before a prompt. */
export const rewindCommands = {
  list_checkpoints: command({
    summary: "Lists the prompts that changed files and can be taken back, oldest first.",
    result: () =>
      z.object({
        /** The checkpoints. */
        checkpoints: z.array(Checkpoint),
      }),
    awaitsSessionChange: true,
    takesLong: true,
  }),
  rewind: command({
    summary:
      "Takes back what a prompt and all prompts since did to the files, and keeps what others changed. Refused during a run.",
    params: () =>
      z.object({
        /** The entry id of the user message to go back to. */
        entryId: z.optional(z.string()),
        /** The checkpoint to go back to, or the rewind to undo; instead of `entryId`. */
        checkpointId: z.optional(z.string()),
        /** Whether to restore files; true by default. */
        files: z.optional(z.boolean()),
        /** Whether the conversation continues from before the message; false by default. */
        conversation: z.optional(z.boolean()),
        /** Whether to return the same result without changing anything; false by default. */
        dryRun: z.optional(z.boolean()),
      }),
    result: () =>
      z.object({
        /** The entry id of the user message. */
        entryId: z.string(),
        /** What happens to the files. */
        files: RewindFiles,
        /** The text of the message, with `conversation`. */
        text: z.optional(z.string()),
        /** The `checkpointId` that undoes this rewind; absent if nothing was done. */
        undoCheckpointId: z.optional(z.string()),
      }),
    positional: ["entryId"],
    awaitsSessionChange: true,
    takesLong: true,
  }),
};
