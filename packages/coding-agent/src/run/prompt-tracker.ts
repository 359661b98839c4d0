import type { RunOutcome } from "@tau-agent/agent";
import type { SessionOnlyEvent } from "@tau-agent/rpc-protocol";
import type { AgentMessage, PromptResult } from "@tau-agent/rpc-protocol/messages";
import { lastReplyText } from "@tau-agent/rpc-protocol/plain";

/** How an accepted prompt ended, as its event tells. */
export type PromptOutcome = Pick<PromptResult, "id" | "status" | "error">;

/** The prompt it belongs to. */
export interface PromptIdentity {
  readonly id: string | number | undefined;
  /**
   * Steering and follow-up messages and prompts of extensions are awaited, too, but only a client's
   * prompts have a result to announce.
   */
  readonly isAnnounced: boolean;
}

interface AcceptedPrompt extends PromptIdentity {
  readonly message: AgentMessage;
  readonly resolve: (result: PromptResult) => void;
  isDelivered: boolean;
  /** The messages recorded since its delivery, its own first. */
  readonly messages: AgentMessage[];
  outcome: PromptOutcome | undefined;
}

/** The event that announces a result. */
export function resultEvent({ id, status, error }: PromptOutcome): SessionOnlyEvent {
  return {
    type: "prompt_result",
    ...(id === undefined ? {} : { id }),
    status,
    ...(error === undefined ? {} : { error }),
  };
}

/** Follows every accepted prompt to its result. */
export class PromptTracker {
  #prompts: AcceptedPrompt[] = [];

  /** Notes a prompt and returns the promise of its result. */
  accept(message: AgentMessage, { id, isAnnounced }: PromptIdentity): Promise<PromptResult> {
    const { promise, resolve } = Promise.withResolvers<PromptResult>();
    const state = { isDelivered: false, messages: [], outcome: undefined };
    this.#prompts.push({ id, isAnnounced, message, resolve, ...state });
    return promise;
  }

  /** A message has become part of the conversation. */
  noteRecorded(message: AgentMessage): void {
    for (const prompt of this.#prompts) {
      prompt.isDelivered ||= prompt.message === message;
      if (prompt.isDelivered) prompt.messages.push(message);
    }
  }

  /**
   * A run ended and will not be retried: that is the result of the prompts it answered.
   *
   * @returns undoes this, as long as the result was not delivered, if the run continues after all
   */
  noteRunEnd(input: readonly AgentMessage[], outcome: RunOutcome): () => void {
    const answered = this.#prompts.filter(
      ({ isDelivered, message, outcome: known }) =>
        known === undefined && (isDelivered || input.includes(message)),
    );
    for (const prompt of answered) prompt.outcome = outcomeOf(prompt.id, outcome);
    return () => {
      for (const prompt of answered) prompt.outcome = undefined;
    };
  }

  /** Delivers the available results, each once, and returns those to announce. */
  settle(): PromptOutcome[] {
    const settled = this.#prompts.filter(({ outcome }) => outcome !== undefined);
    this.#prompts = this.#prompts.filter(({ outcome }) => outcome === undefined);
    return settled.flatMap(({ outcome, messages, resolve, isAnnounced }) => {
      if (outcome === undefined) return [];
      resolve(promptResult(outcome, messages));
      return isAnnounced ? [outcome] : [];
    });
  }

  /** Messages left a queue without being delivered: their prompts were aborted. */
  drop(messages: readonly AgentMessage[]): PromptOutcome[] {
    const dropped = this.#prompts.filter((prompt) => messages.includes(prompt.message));
    this.#prompts = this.#prompts.filter((prompt) => !dropped.includes(prompt));
    return dropped.flatMap(({ id, resolve, isAnnounced }) => {
      const outcome: PromptOutcome = { id, status: "aborted" };
      resolve(promptResult(outcome));
      return isAnnounced ? [outcome] : [];
    });
  }

  /** The conversation is abandoned: unanswered prompts were aborted. */
  abandon(): PromptOutcome[] {
    for (const prompt of this.#prompts) prompt.outcome ??= { id: prompt.id, status: "aborted" };
    return this.settle();
  }
}

/** The result of a prompt with the messages recorded for it. */
export function promptResult(
  outcome: PromptOutcome,
  messages: readonly AgentMessage[] = [],
): PromptResult {
  return { ...outcome, text: lastReplyText(messages), messages };
}

function outcomeOf(id: string | number | undefined, outcome: RunOutcome): PromptOutcome {
  if (outcome.failure !== undefined) {
    const { failure } = outcome;
    return {
      id,
      status: "error",
      error: failure instanceof Error ? failure.message : String(failure),
    };
  }
  if (outcome.aborted) return { id, status: "aborted" };
  const message = outcome.reply?.message;
  if (message?.stopReason === "error") {
    return { id, status: "error", error: message.errorMessage ?? "The request failed" };
  }
  return { id, status: "completed" };
}
