import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { SessionLog } from "@tau-agent/sessions/log";

/** The `customType` of the entry that marks the start of a changing call. */
export const TOOL_STARTED = "tool_started";

/** The `data` of such an entry. */
export interface StartedCall {
  readonly toolCallId: string;
  readonly epoch: number;
  /** The record with which the call can be reverted. */
  readonly checkpointId?: string | undefined;
  /** The command that the call runs. */
  readonly commandId?: string | undefined;
}

const idPattern = /^[0-9a-f]{16}$/;

/** The calls since the last reply that have started but have no result; earlier replies may have used the same ids. */
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

/** A session file may contain anything: invalid ids are ignored. */
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
