import type { KnownSessionEntry, QuestionResult } from "@tau-agent/rpc-protocol";
import type { SessionLog } from "./session-log.ts";

/** The types of the custom entries that hold what the model asks a person, and what came of it. */
export const QUESTION_ASKED = "question_asked";
export const QUESTION_ANSWERED = "question_answered";

/** What came of a question: an answer, or why there is none. */
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

/** What the calls of the last reply have asked a person, by the ids of the calls. */
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
