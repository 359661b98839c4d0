import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { SessionLog } from "@tau-agent/sessions/log";

/** The `customType` of an entry that a changing call begins with. */
export const TOOL_STARTED = "tool_started";

/** `data` of such an entry. */
export interface StartedCall {
  readonly toolCallId: string;
  readonly epoch: number;
  /** What takes the call back. */
  readonly checkpointId?: string | undefined;
  /** The command that the call runs. */
  readonly commandId?: string | undefined;
}

const idPattern = /^[0-9a-f]{16}$/;

/** The calls since the last reply that have begun and have no result: ids of calls may come again. */
export function startedCalls(log: Pick<SessionLog, "tree">): Map<string, StartedCall> {
  const found = new Map<string, StartedCall>();
  const ended = new Set<string>();
  for (const entry of log.tree.ancestors() as Iterable<KnownSessionEntry>) {
    if (entry.type === "message") {
      if (entry.message.role === "assistant") break;
      if (entry.message.role === "toolResult") ended.add(entry.message.toolCallId);
      if (entry.message.role === "toolResult") continue;
      if (entry.message.role === "user") break;
    }
    if (entry.type !== "custom" || entry.customType !== TOOL_STARTED) continue;
    const call = readStarted(entry.data);
    if (call !== undefined && !ended.has(call.toolCallId)) found.set(call.toolCallId, call);
  }
  return found;
}

/** A file may hold anything: what is not an id names nothing. */
function readStarted(data: unknown): StartedCall | undefined {
  if (!isJsonObject(data) || typeof data.toolCallId !== "string") return undefined;
  const { toolCallId, epoch } = data;
  const idOf = (value: unknown) =>
    typeof value === "string" && idPattern.test(value) ? value : undefined;
  return {
    ...{ toolCallId, epoch: typeof epoch === "number" ? epoch : 0 },
    ...{ checkpointId: idOf(data.checkpointId), commandId: idOf(data.commandId) },
  };
}
