import type { ToolCallContext } from "@tau-agent/agent";
import type { SubagentInfo } from "@tau-agent/rpc-protocol";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";

/** The access to a session's subagents that the tools need. */
export interface SubagentAccess {
  list(): Promise<SubagentInfo[]>;
  abort(id: string): Promise<void>;
  output(
    id: string,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<{ readonly info: SubagentInfo; readonly text: string }>;
}

/** Returns a subagent's last message and its status. */
export async function runSubagentOutputTool(
  { id, waitMs = 0 }: { readonly id: string; readonly waitMs?: number | undefined },
  subagents: SubagentAccess,
  { signal }: ToolCallContext,
): Promise<ToolResult> {
  const { info, text } = await subagents.output(id, waitMs, signal);
  const { status, usage } = info;
  const shown = [text === "" ? "(no output)" : text, "", lineOf(info)].join("\n");
  return { content: [{ type: "text", text: shown }], details: { id, status, text, usage } };
}

/** Stops a subagent and its own subagents. */
export async function runAbortSubagentTool(
  { id }: { readonly id: string },
  subagents: SubagentAccess,
): Promise<ToolResult> {
  await subagents.abort(id);
  return { content: [{ type: "text", text: `Stopped subagent ${id}.` }], details: { id } };
}

export async function runListSubagentsTool(
  _: Record<string, never>,
  access: SubagentAccess,
): Promise<ToolResult> {
  const subagents = await access.list();
  const text =
    subagents.length === 0 ? "There are no subagents." : subagents.map(lineOf).join("\n");
  return { content: [{ type: "text", text }], details: { subagents } };
}

function lineOf({ id, agent, status, description, usage }: SubagentInfo): string {
  const what = description === "" ? "" : `: ${description}`;
  return `[${id} (${agent}): ${status}; ${usage.totalTokens} tokens]${what}`;
}
