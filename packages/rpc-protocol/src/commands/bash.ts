import * as z from "zod/mini";
import { command } from "./command.ts";

/** The output of a `bash` command and how it ended. `exitCode` is absent if it was killed. */
export const BashResult = z.object({
  /** The output; only its end if it was truncated. */
  output: z.string(),
  /** The exit code; absent if the process was killed by a signal. */
  exitCode: z.optional(z.number()),
  /** Whether the command was killed. */
  cancelled: z.boolean(),
  /** Whether `output` was truncated. */
  truncated: z.boolean(),
  /** The file with the complete output, if `output` was truncated. */
  fullOutputPath: z.optional(z.string()),
});
export type BashResult = z.infer<typeof BashResult>;

/** Shell commands that the client runs. */
export const bashCommands = {
  bash: command({
    summary:
      "Runs a shell command and adds its output to the conversation. With `stream`, output is also sent as `bash_execution_update` while it is produced.",
    params: () =>
      z.object({
        /** The shell command. */
        command: z.string(),
        /** Whether to hide the command and its output from the model. */
        excludeFromContext: z.optional(z.boolean()),
        /** Whether to send output as it is produced. */
        stream: z.optional(z.boolean()),
      }),
    result: () => BashResult,
    positional: ["command"],
    awaitsSessionChange: true,
    takesLong: true,
    beginsWork: true,
  }),
  abort_bash: command({
    summary: "Kills every running `bash` command.",
    answersAtOnce: true,
  }),
};
