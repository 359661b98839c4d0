import { toolRow } from "../common/tool-row.ts";

/** The `grep` tool. */
export const grepTool = toolRow({
  name: "grep",
  description: "Search file contents, as .gitignore allows.",
  parameters: {
    type: "object",
    properties: {
      pattern: { type: "string", description: "Regular expression" },
      path: { type: "string" },
      glob: { type: "string", description: "Only these files: *.ts, !*.min.js" },
      ignoreCase: { type: "boolean" },
      literal: { type: "boolean" },
      context: { type: "number", description: "Lines around each match" },
      limit: { type: "number", description: "Default 100" },
    },
    required: ["pattern"],
  },
  isReadOnly: true,
  load: async () => (await import("./grep.ts")).runGrepTool,
});
