import type { ArgumentsOf } from "../common/schema.ts";
import type { ToolDefinition } from "../common/tool-definition.ts";

/** Everything that the model reads about `write`. */
export const writeTool = {
  name: "write",
  description:
    "Write a file: creates it with its parent directories, or replaces all of its content.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "File to write, relative to the working directory" },
      content: { type: "string", description: "The whole content of the file" },
    },
    required: ["path", "content"],
  },
  promptSnippet: "Create a file or replace all of it",
  promptGuidelines: ["Use write only for new files and complete rewrites."],
} as const satisfies ToolDefinition;

export type WriteArguments = ArgumentsOf<(typeof writeTool)["parameters"]>;
