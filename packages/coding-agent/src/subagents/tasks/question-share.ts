import type { AnswerQuestions } from "@tau-agent/rpc-protocol";
import { askQuestions, type HostRequests } from "@tau-agent/system";
import { endedWith } from "./ended-with.ts";

export interface QuestionShareOptions {
  readonly requests: HostRequests;
  readonly agentId: string;
  readonly promptId: () => string | undefined;
  readonly timeoutMs: number;
  /** Aborts with the caller. */
  readonly caller: AbortSignal;
}

/** Passes a subagent's questions to its session's client; undefined if nobody can answer. */
export function questionShare(options: QuestionShareOptions): AnswerQuestions | undefined {
  const { requests, agentId, promptId, timeoutMs, caller } = options;
  if (!requests.isAnswered("question")) return undefined;
  return async ({ questions, agentId: nested, toolCallId }, { signal }) => {
    const { result } = await askQuestions(
      requests,
      { questions },
      {
        agentId: nested === undefined ? agentId : `${agentId}/${nested}`,
        promptId: promptId(),
        toolCallId,
        timeoutMs,
        signal: endedWith(signal, caller),
      },
    );
    return result ?? { cancelled: true };
  };
}
