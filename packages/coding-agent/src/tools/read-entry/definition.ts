import { toolRow } from "../common/tool-row.ts";

/** The `read_entry` tool, declared once a result has been cleared. */
export const readEntryTool = toolRow({
  name: "read_entry",
  description: "Show a tool's output that was cleared from the conversation, by its entry id.",
  properties: {
    entryId: { type: "string" },
    offset: { type: "number", description: "Characters to skip" },
  },
  required: ["entryId"],
  isReadOnly: true,
  load: async () => (await import("./read-entry.ts")).runReadEntryTool,
});
