import { toolRow } from "../common/tool-row.ts";

export const readTool = toolRow({
  name: "read",
  description: "Read a text file, at most 2000 lines or 50KB at once, image or PDF.",
  properties: {
    path: { type: "string" },
    offset: { type: "number", description: "First line, from 1" },
    limit: { type: "number" },
    pages: { type: "string", description: "PDF: 3-7" },
  },
  required: ["path"],
  isReadOnly: true,
  promptGuidelines: [
    "Read files with read, not cat or sed.",
    "Send independent calls in one reply.",
  ],
  load: async () => (await import("./read.ts")).runReadTool,
});
