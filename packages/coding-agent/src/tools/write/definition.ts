import { toolRow } from "../common/tool-row.ts";

export const writeTool = toolRow({
  name: "write",
  description: "Create or replace a file, with its parent directories.",
  properties: {
    path: { type: "string" },
    content: { type: "string" },
  },
  required: ["path", "content"],
  promptGuidelines: ["Use edit for changes, write for new files and rewrites."],
  writtenPath: async ({ path }, environment) => {
    const { resolvePath } = await import("../common/paths.ts");
    const file = await resolvePath(String(path), environment);
    return environment.fileQueue.keyOf(file, environment.workspace.id);
  },
  load: async () => (await import("./write.ts")).runWriteTool,
});
