import type { ArgumentsOf } from "../common/schema.ts";
import type { ToolDefinition } from "../common/tool-definition.ts";

/** Everything that the model reads about `read`. */
export const readTool = {
  name: "read",
  description:
    "Read a file: text, or an image (jpg, png, gif, webp, bmp). At most 2000 lines or 50KB of text " +
    "are shown; use offset and limit for the rest.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "File to read, relative to the working directory" },
      offset: { type: "number", description: "First line to show, from 1" },
      limit: { type: "number", description: "How many lines to show" },
    },
    required: ["path"],
  },
  isReadOnly: true,
  promptSnippet: "Read files and images",
  promptGuidelines: ["Use read to look at files, not cat or sed."],
} as const satisfies ToolDefinition;

export type ReadArguments = ArgumentsOf<(typeof readTool)["parameters"]>;
