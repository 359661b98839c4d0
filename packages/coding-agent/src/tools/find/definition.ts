import type { ArgumentsOf } from "../common/schema.ts";
import type { ToolDefinition } from "../common/tool-definition.ts";

/** Everything that the model reads about `find`. */
export const findTool = {
  name: "find",
  description:
    "Find files and directories by glob; paths are relative to the searched directory, directories " +
    "end in /. What .gitignore excludes is left out. At most 1000 results or 50KB.",
  parameters: {
    type: "object",
    properties: {
      pattern: {
        type: "string",
        description:
          "Glob: *.ts matches names at any depth, a pattern with a slash (src/**/*.ts) the whole path",
      },
      path: { type: "string", description: "Directory to search (default: the working directory)" },
      limit: { type: "number", description: "How many results to show (default 1000)" },
    },
    required: ["pattern"],
  },
  isReadOnly: true,
  promptSnippet: "Find files by name pattern (respects .gitignore)",
} as const satisfies ToolDefinition;

export type FindArguments = ArgumentsOf<(typeof findTool)["parameters"]>;
