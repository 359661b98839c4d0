import { toolRow } from "../common/tool-row.ts";

export const findTool = toolRow({
  name: "find",
  description: "Find files and directories by glob, as .gitignore allows.",
  properties: {
    pattern: {
      type: "string",
      description: "*.ts at any depth, src/**/*.ts",
    },
    path: { type: "string" },
    limit: { type: "number" },
  },
  required: ["pattern"],
  isReadOnly: true,
  load: async () => (await import("./find.ts")).runFindTool,
});
