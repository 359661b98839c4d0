import { toolRow } from "../common/tool-row.ts";

/** The `find` tool. */
export const findTool = toolRow({
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
      limit: { type: "number", description: "Results to show (default 1000)" },
    },
    required: ["pattern"],
  },
  isReadOnly: true,
  promptSnippet: "Find files by name pattern (respects .gitignore)",
  load: async () => (await import("./find.ts")).runFindTool,
});
