import { toolRow } from "../common/tool-row.ts";

/** The `grep` tool. */
export const grepTool = toolRow({
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
        description: "Only such files, relative to path: *.ts, src/**/*.test.ts, !*.min.js",
      },
      ignoreCase: { type: "boolean", description: "Ignore case" },
      literal: { type: "boolean", description: "Take the pattern as plain text" },
      context: { type: "number", description: "Lines before and after each match" },
      limit: { type: "number", description: "Matches to show (default 100)" },
    },
    required: ["pattern"],
  },
  isReadOnly: true,
  promptSnippet: "Search file contents (respects .gitignore)",
  load: async () => (await import("./grep.ts")).runGrepTool,
});
