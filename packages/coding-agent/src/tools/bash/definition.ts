import type { ArgumentsOf } from "../common/schema.ts";
import type { ToolDefinition } from "../common/tool-definition.ts";

/** Everything that the model reads about `bash`. */
export const bashTool = {
  name: "bash",
  description:
    "Run a shell command in the working directory; returns stdout and stderr together. " +
    "Of long output the last 2000 lines or 50KB are shown and all of it is kept in a file. " +
    "Commands get no input; start a server in the background with &.",
  parameters: {
    type: "object",
    properties: {
      command: { type: "string", description: "Shell command to run" },
      timeout: {
        type: "number",
        description: "Seconds after which the command is killed (default: no limit)",
      },
    },
    required: ["command"],
  },
  promptSnippet: "Run shell commands",
} as const satisfies ToolDefinition;

export type BashArguments = ArgumentsOf<(typeof bashTool)["parameters"]>;
