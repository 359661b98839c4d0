import type { ArgumentsOf } from "../common/schema.ts";
import type { ToolDefinition } from "../common/tool-definition.ts";

/** Everything that the model reads about `ls`. */
export const lsTool = {
  name: "ls",
  description:
    "List a directory in alphabetical order, hidden files included; directories end in /. " +
    "At most 500 entries or 50KB.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "Directory to list (default: the working directory)" },
      limit: { type: "number", description: "How many entries to show (default 500)" },
    },
    required: [],
  },
  isReadOnly: true,
  promptSnippet: "List a directory",
} as const satisfies ToolDefinition;

export type LsArguments = ArgumentsOf<(typeof lsTool)["parameters"]>;
