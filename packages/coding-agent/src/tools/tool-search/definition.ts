import { toolRow } from "../common/tool-row.ts";

/** The `tool_search` tool. Its description never changes, because it is part of the request prefix. */
export const toolSearchTool = toolRow({
  name: "tool_search",
  description:
    "Find further tools by name or by what they do; try before you say that something cannot be done.",
  properties: {
    query: {
      type: "string",
      description: "Words, or exact names separated by commas",
    },
    limit: { type: "number", description: "Default 5" },
  },
  required: ["query"],
  isReadOnly: true,
  load: async () => (await import("./tool-search.ts")).runToolSearch,
});
