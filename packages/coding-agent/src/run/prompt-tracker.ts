import type { RunOutcome } from "@tau-agent/agent";
import { isProviderError } from "@tau-agent/ai";
import type { SessionOnlyEvent } from "@tau-agent/rpc-protocol";
import type { AgentMessage, PromptResult } from "@tau-agent/rpc-protocol/messages";
import { CodedError, errorMessage, lastReplyText } from "@tau-agent/rpc-protocol/plain";
import { type OutputAnswer, type OutputResult, SparseSet } from "@tau-agent/system";
import type { PausedBy } from "./step-limits.ts";

/** How an accepted prompt ended, as its event reports it. */
export type PromptOutcome = Pick<PromptResult, "id" | "status" | "error" | "code" | "pausedBy"> & {
  readonly promptId: string;
  /** The answer of a prompt with an output schema. */
  readonly answer?: OutputResult | undefined;
};

export interface PromptIdentity {
  readonly promptId: string;
  readonly id: string | number | undefined;
  /**
   * Whether the result is announced. Steering, follow-ups and prompts of extensions are awaited,
   * too, but only a client's prompts have a result to announce.
   */
  readonly isAnnounced: boolean;
  /** The pending answer of a prompt with an output schema. */
  readonly answer?: OutputAnswer | undefined;
  /** The span that the prompt names. */
  readonly traceparent?: string | undefined;
  /** Whether its run was continued from another host without a request to resume it. */
  readonly isUnclaimed?: boolean | undefined;
}

interface AcceptedPrompt extends PromptIdentity {
  readonly message: AgentMessage;
  readonly result: Promise<PromptResult>;
  readonly resolve: (result: PromptResult) => void;
  isDelivered: boolean;
  /** The messages recorded since its delivery, its own first. */
  readonly messages: AgentMessage[];
  outcome: PromptOutcome | undefined;
}

export function resultEvent({
  id,
  status,
  error,
  code,
  pausedBy,
  answer,
}: PromptOutcome): SessionOnlyEvent {
  return {
    type: "prompt_result",
    ...(id === undefined ? {} : { id }),
    status,
    ...(error === undefined ? {} : { error }),
    ...(code === undefined ? {} : { code }),
    ...(pausedBy === undefined ? {} : { pausedBy }),
    ...answer,
  };
}

/** What stopped a run before the model was done. */
export interface RunStop {
  readonly isOverBudget: boolean;
  readonly pausedBy: (promptId: string) => PausedBy | undefined;
}

/** Tracks every accepted prompt until its result. */
export class PromptTracker {
  #prompts: AcceptedPrompt[] = [];
  /** Prompts whose results came before anyone claimed them. */
  readonly #unheard = new SparseSet<string>();

  /** Notes a prompt and returns the promise of its result. */
  accept(message: AgentMessage, prompt: PromptIdentity): Promise<PromptResult> {
    return this.#add(message, prompt).result;
  }

  /**
   * Notes a prompt whose messages are already in the conversation.
   *
   * @param messages - the prompt's own message first
   */
  takeUp(
    messages: readonly [AgentMessage, ...AgentMessage[]],
    prompt: PromptIdentity,
  ): Promise<PromptResult> {
    const [own] = messages;
    const known = this.#prompts.find(({ promptId }) => promptId === prompt.promptId);
    this.#prompts = this.#prompts.filter((each) => each !== known);
    const added = this.#add(own, prompt);
    added.isDelivered = true;
    added.messages.push(...messages);
    void added.result.then((result) => known?.resolve(result));
    return added.result;
  }

  #add(message: AgentMessage, prompt: PromptIdentity): AcceptedPrompt {
    const { promise: result, resolve } = Promise.withResolvers<PromptResult>();
    const state = { isDelivered: false, messages: [], outcome: undefined };
    const added: AcceptedPrompt = { ...prompt, message, result, resolve, ...state };
    this.#prompts.push(added);
    return added;
  }

  /** Whether the result of a prompt came before anyone had claimed it; true only once. */
  takeUnheard(promptId: string): boolean {
    return this.#unheard.delete(promptId);
  }

  /** Whether anyone waits for the result of a prompt; false if only its run was continued. */
  isClaimed(promptId: string): boolean {
    const prompt = this.#prompts.find((each) => each.promptId === promptId);
    return prompt !== undefined && prompt.isUnclaimed !== true;
  }

  /** The pending result of an accepted prompt; undefined once it is available. */
  find(promptId: string): Promise<PromptResult> | undefined {
    return this.#prompts.find((prompt) => prompt.promptId === promptId)?.result;
  }

  /**
   * Notes that a message has become part of the conversation.
   *
   * @param promptId - the prompt that the message is, even if an extension has replaced the message
   */
  noteRecorded(message: AgentMessage, promptId: string | undefined): void {
    for (const prompt of this.#prompts) {
      prompt.isDelivered ||= prompt.promptId === promptId;
      if (prompt.isDelivered) prompt.messages.push(message);
    }
  }

  /**
   * Records the end of a run that will not be retried as the result of the prompts it answered.
   *
   * @param stop - what stopped it, if anything did
   * @returns a function that undoes this before the result is delivered, in case the run continues after all
   */
  noteRunEnd(
    input: readonly AgentMessage[],
    outcome: RunOutcome,
    { isOverBudget, pausedBy }: RunStop,
  ): () => void {
    const answered = this.#prompts.filter(
      ({ isDelivered, message, outcome: known }) =>
        known === undefined && (isDelivered || input.includes(message)),
    );
    for (const prompt of answered) {
      const by = outcome.isPaused ? pausedBy(prompt.promptId) : undefined;
      prompt.outcome =
        by === undefined ? outcomeOf(prompt, outcome, isOverBudget) : pausedOutcome(prompt, by);
    }
    return () => {
      for (const prompt of answered) prompt.outcome = undefined;
    };
  }

  /** Delivers the available results, each once, and returns those to announce. */
  settle(): PromptOutcome[] {
    const settled = this.#prompts.filter(({ outcome }) => outcome !== undefined);
    this.#prompts = this.#prompts.filter(({ outcome }) => outcome === undefined);
    return settled.flatMap(({ outcome, messages, resolve, isAnnounced, isUnclaimed, answer }) => {
      if (outcome === undefined) return [];
      if (isUnclaimed) this.#unheard.add(outcome.promptId);
      const answered = withAnswer(outcome, answer, messages);
      resolve(promptResult(answered, messages));
      return isAnnounced ? [answered] : [];
    });
  }

  /**
   * Ends the prompts of messages that left a queue undelivered as aborted.
   *
   * @param announcesAll - whether to include prompts that are not announced otherwise
   */
  drop(messages: readonly AgentMessage[], announcesAll = false): PromptOutcome[] {
    const dropped = this.#prompts.filter((prompt) => messages.includes(prompt.message));
    this.#prompts = this.#prompts.filter((prompt) => !dropped.includes(prompt));
    return dropped.flatMap(({ id, promptId, resolve, isAnnounced, answer }) => {
      const outcome = withAnswer({ id, promptId, status: "aborted" }, answer);
      resolve(promptResult(outcome));
      return isAnnounced || announcesAll ? [outcome] : [];
    });
  }

  /** Ends unanswered prompts as aborted, because the conversation is abandoned. */
  abandon(): PromptOutcome[] {
    for (const prompt of this.#prompts) {
      const { id, promptId } = prompt;
      prompt.outcome ??= { id, promptId, status: "aborted" };
    }
    return this.settle();
  }
}

/** An outcome with the result of the answer, if the prompt asked for one. */
export function withAnswer(
  outcome: PromptOutcome,
  answer: OutputAnswer | undefined,
  messages: readonly AgentMessage[] = [],
): PromptOutcome {
  if (answer === undefined) return outcome;
  return { ...outcome, answer: answer.result(outcome.status, lastReplyText(messages)) };
}

export function promptResult(
  { answer, ...outcome }: PromptOutcome,
  messages: readonly AgentMessage[] = [],
): PromptResult {
  return { ...outcome, text: lastReplyText(messages), messages, ...answer };
}

function pausedOutcome({ id, promptId }: PromptIdentity, pausedBy: PausedBy): PromptOutcome {
  return { id, promptId, status: "paused", pausedBy };
}

function outcomeOf(
  { id, promptId }: PromptIdentity,
  outcome: RunOutcome,
  isOverBudget: boolean,
): PromptOutcome {
  const prompt = { id, promptId };
  if (outcome.aborted && isOverBudget) {
    return { ...prompt, status: "aborted", code: "budget_exceeded" };
  }
  if (outcome.failure !== undefined) {
    const { failure } = outcome;
    return { ...prompt, status: "error", error: errorMessage(failure), code: codeOf(failure) };
  }
  if (outcome.aborted) return { ...prompt, status: "aborted" };
  const { reply } = outcome;
  const message = reply?.message;
  if (message?.stopReason === "error") {
    const error = message.errorMessage ?? "The request failed";
    return { ...prompt, status: "error", error, code: codeOf(reply?.error ?? reply?.cause) };
  }
  return { ...prompt, status: "completed" };
}

/** The code of the failure; a reply that failed at the vendor without a reason threw nothing. */
function codeOf(failure: unknown): PromptResult["code"] {
  if (failure instanceof CodedError || isProviderError(failure)) return failure.code;
  return failure === undefined ? "unknown" : "internal";
}
