import { toolRow } from "../common/tool-row.ts";

/** The `write` tool. */
export const writeTool = toolRow({
  name: "write",
  description:
    "Write a file: creates it with its parent directories, or replaces all of its content.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "File to write, relative to the working directory" },
      content: { type: "string", description: "The whole content of the file" },
    },
    required: ["path", "content"],
  },
  promptSnippet: "Create a file or replace all of it",
  promptGuidelines: ["Use write only for new files and complete rewrites."],
  writtenPath: async ({ path }, environment) => {
    const { resolvePath } = await import("../common/paths.ts");
    return environment.fileQueue.keyOf(resolvePath(String(path), environment));
  },
  load: async () => (await import("./write.ts")).runWriteTool,
});
