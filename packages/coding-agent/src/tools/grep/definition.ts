import { toolRow } from "../common/tool-row.ts";

export const grepTool = toolRow({
  name: "grep",
  description: "Search file contents, as .gitignore allows.",
  properties: {
    pattern: { type: "string" },
    path: { type: "string" },
    glob: { type: "string", description: "*.ts, !*.min.js" },
    ignoreCase: { type: "boolean" },
    literal: { type: "boolean" },
    context: { type: "number" },
    limit: { type: "number" },
  },
  required: ["pattern"],
  isReadOnly: true,
  load: async () => (await import("./grep.ts")).runGrepTool,
});
