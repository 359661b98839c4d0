import type { BeforeToolCallResult } from "@tau-agent/agent";
import type { QuestionParams } from "@tau-agent/rpc-protocol";
import type { ToolCall } from "@tau-agent/rpc-protocol/messages";
import {
  type Conversation,
  QUESTION_ANSWERED,
  QUESTION_ASKED,
  type StoredAnswer,
  storedQuestions,
} from "@tau-agent/sessions/log";
import { askQuestions, type HostRequests, randomUuid } from "@tau-agent/system";
import type { GivenAnswers } from "../tools/ask-user/given-answers.ts";

export interface PersonQuestionsOptions {
  readonly requests: HostRequests;
  readonly conversation: () => Conversation;
  readonly promptId: () => string | undefined;
  /** How long a question waits; 0 for no limit. */
  readonly timeoutMs: () => number;
}

/**
 * The questions of `ask_user` calls, asked before the call runs. Questions and answers are logged, so that they survive
 * the host.
 */
export class PersonQuestions {
  readonly #options: PersonQuestionsOptions;
  readonly #answers = new Map<string, GivenAnswers>();

  constructor(options: PersonQuestionsOptions) {
    this.#options = options;
  }

  /** Asks, unless an earlier host already received the answer. */
  async ask(call: ToolCall, signal: AbortSignal): Promise<BeforeToolCallResult | undefined> {
    const { requests, conversation, promptId, timeoutMs } = this.#options;
    const params = call.arguments as QuestionParams;
    const problem = problemOf(params);
    if (problem !== undefined) return { block: true, reason: problem };
    const toolCallId = call.id;
    const { log } = conversation();
    const known = storedQuestions(log).get(toolCallId);
    if (known?.answer !== undefined) return this.#conclude(call, known.answer);
    const asked = { requestId: known?.requestId ?? randomUuid(), toolCallId, promptId: promptId() };
    if (known === undefined && requests.isAnswered("question")) {
      conversation().append({ type: "custom", customType: QUESTION_ASKED, data: asked });
      await log.stored();
    }
    const place = { id: asked.requestId, toolCallId, promptId: asked.promptId, signal };
    const closed = await askQuestions(requests, params, { ...place, timeoutMs: timeoutMs() });
    if (closed.by === "end" && requests.isEnded) return { isSuspended: true };
    const { by, result, error: message } = closed;
    const answer: StoredAnswer = { by, result, message };
    const data = { toolCallId, ...answer };
    conversation().append({ type: "custom", customType: QUESTION_ANSWERED, data });
    await log.stored();
    return this.#conclude(call, answer);
  }

  /** Takes a person's answer to a call; a second call returns nothing. */
  takeAnswers(toolCallId: string): GivenAnswers | undefined {
    const answers = this.#answers.get(toolCallId);
    this.#answers.delete(toolCallId);
    return answers;
  }

  #conclude({ id }: ToolCall, answer: StoredAnswer): BeforeToolCallResult | undefined {
    const { result, by, message } = answer;
    if (result !== undefined && "answers" in result) {
      this.#answers.set(id, result.answers);
      return undefined;
    }
    const why = reasons[by] ?? "it was withdrawn";
    const said = message === undefined ? "" : ` (${message})`;
    return {
      block: true,
      reason: `No answer: ${why}${said}. Nothing was chosen; do not take anything for the user's decision.`,
      details: { unanswered: { by } },
    };
  }
}

const reasons: Readonly<Record<string, string>> = {
  client: "the user does not answer",
  timeout: "nobody answered in time",
  nobody: "nobody is there to answer",
};

/** Checks what the schema cannot express. */
function problemOf({ questions }: QuestionParams): string | undefined {
  if (questions.length < 1 || questions.length > 4) return "Ask one to four questions.";
  for (const [index, { options }] of questions.entries()) {
    const place = `questions[${index}].options`;
    if (options.length < 2 || options.length > 4) return `${place}: give two to four.`;
    const labels = options.map(({ label }) => label);
    if (labels.some((label) => label.trim() === "")) return `${place}: a label is empty.`;
    if (new Set(labels).size < labels.length) return `${place}: a label is there twice.`;
  }
  return undefined;
}
