import type { KnownSessionEntry, QuestionResult } from "@tau-agent/rpc-protocol";
import type { SessionLog } from "./session-log.ts";

/** The types of the custom entries with the model's questions to a person and their outcomes. */
export const QUESTION_ASKED = "question_asked";
export const QUESTION_ANSWERED = "question_answered";

/** The outcome of a question: an answer, or why there is none. */
export interface StoredAnswer {
  readonly by: string;
  readonly result?: QuestionResult | undefined;
  readonly message?: string | undefined;
}

/** A question of a call of the last reply. */
export interface StoredQuestion {
  readonly requestId: string;
  readonly promptId?: string | undefined;
  readonly answer?: StoredAnswer | undefined;
}

/** The questions that the calls of the last reply have asked a person, by call id. */
export function storedQuestions(log: SessionLog): ReadonlyMap<string, StoredQuestion> {
  const found = new Map<string, StoredQuestion>();
  const answers = new Map<string, StoredAnswer>();
  for (const entry of log.tree.ancestors() as Iterable<KnownSessionEntry>) {
    if (entry.type === "message" && entry.message.role === "assistant") break;
    if (entry.type !== "custom") continue;
    const { toolCallId = "", ...data } = Object(entry.data) as StoredQuestion &
      StoredAnswer & { readonly toolCallId?: string };
    if (entry.customType === QUESTION_ANSWERED) answers.set(toolCallId, data);
    if (entry.customType === QUESTION_ASKED) {
      found.set(toolCallId, { ...data, answer: answers.get(toolCallId) });
    }
  }
  return found;
}
