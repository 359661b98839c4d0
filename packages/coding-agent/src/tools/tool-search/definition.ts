import { toolRow } from "../common/tool-row.ts";

/** The `tool_search` tool. Its text never changes: it is part of the request prefix. */
export const toolSearchTool = toolRow({
  name: "tool_search",
  description:
    "Find further tools. This session has more tools than you are shown: search by name or by what " +
    "they do before you say that something cannot be done. The tools found can be called from your " +
    "next message on.",
  parameters: {
    type: "object",
    properties: {
      query: {
        type: "string",
        description: "Words of the tool's name or task, or exact names separated by commas",
      },
      limit: { type: "number", description: "Tools to load at most (default 5)" },
    },
    required: ["query"],
  },
  isReadOnly: true,
  load: async () => (await import("./tool-search.ts")).runToolSearch,
});
