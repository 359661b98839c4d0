import { toolRow } from "../common/tool-row.ts";

/** The `find` tool. */
export const findTool = toolRow({
  name: "find",
  description: "Find files and directories by glob, without what .gitignore excludes.",
  parameters: {
    type: "object",
    properties: {
      pattern: {
        type: "string",
        description: "*.ts for names at any depth, src/**/*.ts for paths",
      },
      path: { type: "string", description: "Directory" },
      limit: { type: "number", description: "Default 1000" },
    },
    required: ["pattern"],
  },
  isReadOnly: true,
  load: async () => (await import("./find.ts")).runFindTool,
});
