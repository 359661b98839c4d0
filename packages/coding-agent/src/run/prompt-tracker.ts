import type { RunOutcome } from "@tau-agent/agent";
import type { PromptStatus, SessionOnlyEvent } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";

/** How an accepted prompt ended. */
export interface PromptResult {
  readonly id: string | number | undefined;
  readonly status: PromptStatus;
  readonly error?: string | undefined;
}

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
  result: PromptResult | undefined;
}

/** The event that announces a result. */
export function resultEvent({ id, status, error }: PromptResult): SessionOnlyEvent {
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
    const state = { isDelivered: false, result: undefined };
    this.#prompts.push({ id, isAnnounced, message, resolve, ...state });
    return promise;
  }

  /** A message has become part of the conversation. */
  noteDelivered(message: AgentMessage): void {
    for (const prompt of this.#prompts) if (prompt.message === message) prompt.isDelivered = true;
  }

  /**
   * A run ended and will not be retried: that is the result of the prompts it answered.
   *
   * @returns undoes this, as long as the result was not delivered, if the run continues after all
   */
  noteRunEnd(input: readonly AgentMessage[], outcome: RunOutcome): () => void {
    const answered = this.#prompts.filter(
      ({ isDelivered, message, result }) =>
        result === undefined && (isDelivered || input.includes(message)),
    );
    for (const prompt of answered) prompt.result = resultOf(prompt.id, outcome);
    return () => {
      for (const prompt of answered) prompt.result = undefined;
    };
  }

  /** Delivers the available results, each once, and returns those to announce. */
  settle(): PromptResult[] {
    const settled = this.#prompts.filter((prompt) => prompt.result !== undefined);
    this.#prompts = this.#prompts.filter((prompt) => prompt.result === undefined);
    return settled.flatMap(({ result, resolve, isAnnounced }) => {
      if (result === undefined) return [];
      resolve(result);
      return isAnnounced ? [result] : [];
    });
  }

  /** Messages left a queue without being delivered: their prompts were aborted. */
  drop(messages: readonly AgentMessage[]): PromptResult[] {
    const dropped = this.#prompts.filter((prompt) => messages.includes(prompt.message));
    this.#prompts = this.#prompts.filter((prompt) => !dropped.includes(prompt));
    return dropped.flatMap(({ id, resolve, isAnnounced }) => {
      const result: PromptResult = { id, status: "aborted" };
      resolve(result);
      return isAnnounced ? [result] : [];
    });
  }

  /** The conversation is abandoned: unanswered prompts were aborted. */
  abandon(): PromptResult[] {
    for (const prompt of this.#prompts) prompt.result ??= { id: prompt.id, status: "aborted" };
    return this.settle();
  }
}

function resultOf(id: string | number | undefined, outcome: RunOutcome): PromptResult {
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
