import { toolRow } from "../common/tool-row.ts";

/** The `call_tool` tool, for models that accept no additional tools once a conversation has begun. */
export const callToolTool = toolRow({
  name: "call_tool",
  description: "Call a tool named in a result.",
  properties: { name: { type: "string" }, arguments: { type: "object" } },
  required: ["name", "arguments"],
  callsByName: true,
  load: async () => (await import("./call-tool.ts")).runCallTool,
});
