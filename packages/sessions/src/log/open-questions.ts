import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import type { AssistantMessage, ToolCall } from "@tau-agent/rpc-protocol/messages";
import { lastCalls } from "./last-calls.ts";
import type { SessionLog } from "./session-log.ts";
import { storedQuestions } from "./stored-questions.ts";

/** A reply with calls that waited for an answer when the host ended. */
export interface OpenQuestions {
  readonly message: AssistantMessage;
  /** The calls to continue with, in order: the first one that waits for an answer, and those after it. */
  readonly calls: readonly ToolCall[];
  readonly requestIds: ReadonlyMap<string, string>;
  readonly promptId: string | undefined;
}

/** The unanswered questions; undefined if there are none. */
export function openQuestions(log: SessionLog): OpenQuestions | undefined {
  const last = lastCalls(log);
  if (last === undefined) return undefined;
  const { asked, answered, ...approvals } = approvalsOf(log);
  const questions = storedQuestions(log);
  const requestIds = new Map(
    last.open.flatMap(({ id }) => {
      const requestId = asked.get(id);
      return requestId === undefined || answered.has(id) ? [] : [[id, requestId] as const];
    }),
  );
  const first = last.open.findIndex(({ id }) => requestIds.has(id) || questions.has(id));
  if (first === -1) return undefined;
  // A call whose approval was answered may have started and is never repeated; a call that only asks a
  // person has no other effect.
  const calls = last.open.slice(first).filter(({ id }) => questions.has(id) || !answered.has(id));
  const [question] = questions.values();
  const promptId = approvals.promptId ?? question?.promptId;
  return { message: last.message, calls, requestIds, promptId };
}

/** The approvals since the last reply, without those of subagents. */
function approvalsOf(log: SessionLog) {
  const asked = new Map<string, string>();
  const answered = new Set<string>();
  let promptId: string | undefined;
  for (const entry of log.tree.ancestors() as Iterable<KnownSessionEntry>) {
    if (entry.type === "message" && entry.message.role === "assistant") break;
    if (entry.type !== "approval" || entry.agentId !== undefined) continue;
    const { phase, toolCallId, requestId } = entry;
    promptId ??= entry.promptId;
    if (phase === "asked" && requestId !== undefined) asked.set(toolCallId, requestId);
    else answered.add(entry.toolCallId);
  }
  return { asked, answered, promptId };
}
