import type { ArgumentsOf } from "../common/schema.ts";
import type { ToolDefinition } from "../common/tool-definition.ts";

/** Everything that the model reads about `grep`. */
export const grepTool = {
  name: "grep",
  description:
    "Search file contents; shows matching lines with path and line number. Files that .gitignore " +
    "excludes are left out. At most 100 matches or 50KB; long lines are cut at 500 characters.",
  parameters: {
    type: "object",
    properties: {
      pattern: { type: "string", description: "Regular expression, or plain text with literal" },
      path: { type: "string", description: "Directory or file (default: the working directory)" },
      glob: {
        type: "string",
        description: "Only files that match, relative to path: *.ts, src/**/*.test.ts, !*.min.js",
      },
      ignoreCase: { type: "boolean", description: "Ignore upper and lower case" },
      literal: { type: "boolean", description: "Take the pattern as plain text" },
      context: { type: "number", description: "Lines to show before and after each match" },
      limit: { type: "number", description: "How many matches to show (default 100)" },
    },
    required: ["pattern"],
  },
  isReadOnly: true,
  promptSnippet: "Search file contents (respects .gitignore)",
} as const satisfies ToolDefinition;

export type GrepArguments = ArgumentsOf<(typeof grepTool)["parameters"]>;
