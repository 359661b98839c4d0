import * as z from "zod/mini";
import { command } from "../command.ts";
import { noParams, nothing } from "./shared.ts";

/** What a `bash` command printed and how it ended. `exitCode` is absent when it was killed. */
export const BashResult = z.object({
  output: z.string(),
  exitCode: z.optional(z.number()),
  cancelled: z.boolean(),
  truncated: z.boolean(),
  fullOutputPath: z.optional(z.string()),
});
export type BashResult = z.infer<typeof BashResult>;

/** Shell commands of the client's own. */
export const bashCommands = {
  bash: command({
    summary:
      "Runs a shell command and adds its output to the conversation; with `stream`, reports output as `bash_execution_update`.",
    params: () =>
      z.object({
        command: z.string(),
        excludeFromContext: z.optional(z.boolean()),
        stream: z.optional(z.boolean()),
      }),
    result: () => BashResult,
    positional: ["command"],
    awaitsSessionChange: true,
    takesLong: true,
  }),
  abort_bash: command({
    summary: "Kills every running `bash` command.",
    params: noParams,
    result: nothing,
    data: "none",
  }),
};
