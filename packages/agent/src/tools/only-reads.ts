import type { ToolCall } from "@tau-agent/rpc-protocol/messages";
import type { AgentTool } from "./tool.ts";

/** Whether this call only reads, as far as its tool can tell. */
export async function onlyReads(tool: AgentTool, call: ToolCall): Promise<boolean> {
  try {
    return (await tool.isReadOnlyCall?.(call.arguments)) ?? false;
  } catch {
    // If it cannot judge the arguments, the tool may write.
    return false;
  }
}
