import type { AgentMessage, AssistantMessage } from "@tau-agent/rpc-protocol/messages";
import { lastReplyParts } from "@tau-agent/rpc-protocol/plain";
import { OUTPUT_REMINDER, type OutputAnswer, SparseMap } from "@tau-agent/system";

/** The answers that prompts with an output schema still need. */
export class OpenOutputs {
  readonly #answers = new SparseMap<string, OutputAnswer>();
  /** In the order of their prompts' delivery. */
  #asked: OutputAnswer[] = [];

  add(promptId: string, answer: OutputAnswer): void {
    this.#answers.set(promptId, answer);
  }

  of(promptId: string | undefined): OutputAnswer | undefined {
    return promptId === undefined ? undefined : this.#answers.get(promptId);
  }

  /** The answer that is due: that of the latest prompt comes first. */
  get current(): OutputAnswer | undefined {
    return this.#asked.findLast((answer) => !answer.isClosed);
  }

  /** Notes that a prompt has become part of the conversation. */
  noteDelivery(promptId: string | undefined): void {
    const answer = this.of(promptId);
    if (answer !== undefined) this.#asked.push(answer);
  }

  /** Forgets a prompt that has its result. */
  forget(promptId: string): void {
    const answer = this.#answers.get(promptId);
    this.#answers.delete(promptId);
    this.#asked = this.#asked.filter((other) => other !== answer);
  }

  /**
   * Judges a reply with which the model wants to end, and returns the message to continue with, if any. A reply that
   * was cut is continued first.
   */
  judge({ stopReason }: AssistantMessage, messages: readonly AgentMessage[]): AgentMessage[] {
    const answer = this.current;
    if (answer === undefined || stopReason === "length") return [];
    const problem = answer.judge(lastReplyParts(messages));
    const next = problem ?? this.current?.instruction;
    if (next === undefined) return [];
    return [outputReminder(next)];
  }
}

/** The message that tells the model why its answer is invalid. */
export function outputReminder(content: string): AgentMessage {
  return {
    role: "custom",
    customType: OUTPUT_REMINDER,
    content,
    display: false,
    timestamp: Date.now(),
  };
}
