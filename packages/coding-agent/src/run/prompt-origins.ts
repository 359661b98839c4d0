import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import type { PromptTrace } from "../telemetry/session-telemetry.ts";

export interface MessageOrigin {
  readonly promptId: string;
  /** Set while the prompt is queued. */
  readonly itemId?: string | undefined;
  /** The text that is added to the message in requests only. */
  readonly note?: string | undefined;
  readonly trace?: PromptTrace | undefined;
}

/** Tracks which prompt a message is, and which prompt the current events belong to. */
export class PromptOrigins {
  readonly #origins = new WeakMap<AgentMessage, MessageOrigin>();
  #current: string | undefined;
  /** The last prompt for which a request was made. */
  #asked: string | undefined;

  /** The prompt of the current run; undefined outside of runs. */
  get current(): string | undefined {
    return this.#current;
  }

  /** The initiator of the next reply: the user for the first request of a prompt, then the agent. */
  nextInitiator(): "user" | "agent" {
    const isFirst = this.#current !== undefined && this.#current !== this.#asked;
    this.#asked = this.#current;
    return isFirst ? "user" : "agent";
  }

  /** The prompt that a message is; undefined for messages from the model, tools and extensions. */
  of(message: AgentMessage): MessageOrigin | undefined {
    return this.#origins.get(message);
  }

  mark(message: AgentMessage, origin: MessageOrigin): void {
    this.#origins.set(message, origin);
  }

  /** Moves the origin of a message to the one that replaces it. */
  transfer(from: AgentMessage, to: AgentMessage): void {
    const origin = this.#origins.get(from);
    if (origin !== undefined) this.#origins.set(to, origin);
  }

  /** Notes the start of a run; a run that continues another belongs to the same prompt. */
  beginRun(input: readonly AgentMessage[]): void {
    for (const message of input.toReversed()) this.noteDelivery(message);
  }

  /** Notes the continuation of a run that another host began. */
  continueRun(promptId: string | undefined): void {
    this.#current = promptId ?? this.#current;
  }

  /** Notes that a message became part of the conversation: later events belong to its prompt. */
  noteDelivery(message: AgentMessage): void {
    this.#current = this.#origins.get(message)?.promptId ?? this.#current;
  }

  /** Notes that nothing is running, and returns the prompt of the last run. */
  end(): string | undefined {
    const last = this.#current;
    this.#current = undefined;
    return last;
  }
}
