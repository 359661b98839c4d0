import { toolRow } from "../common/tool-row.ts";

/** The `read` tool. */
export const readTool = toolRow({
  name: "read",
  description:
    "Read a file: text, or an image (jpg, png, gif, webp, bmp). At most 2000 lines or 50KB of text " +
    "are shown; use offset and limit for the rest.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "File to read, relative to the working directory" },
      offset: { type: "number", description: "First line to show, from 1" },
      limit: { type: "number", description: "How many lines to show" },
    },
    required: ["path"],
  },
  isReadOnly: true,
  promptSnippet: "Read files and images",
  promptGuidelines: [
    "Use read to look at files, not cat or sed.",
    "Send independent read, grep, find and ls calls together in one reply; they run at the same time.",
  ],
  load: async () => (await import("./read.ts")).runReadTool,
});
