import type { LlmMessage } from "@tau-agent/rpc-protocol/messages";
import { beginsWith } from "./same-list.ts";

/** A fold: how a state is built from messages, one after the other. */
export interface Fold<State> {
  /** Everything besides the messages that affects the state, as JSON-compatible values. */
  readonly rules: readonly unknown[];
  start(): State;
  /** Adds one message to the state. */
  step(state: State, message: LlmMessage, index: number): void;
}

interface Progress {
  readonly rules: string;
  readonly messages: LlmMessage[];
  readonly state: unknown;
}

/**
 * Caches states built from the messages of earlier requests. A settled message never changes, and a request
 * repeats all earlier messages, so without a cache each turn would cost more than the previous one (row
 * `read-turn-growth`). A conversation is identified by its first message and forgotten with it.
 */
export class Memo {
  readonly #known = new WeakMap<object, Progress>();

  /**
   * The state after all of `messages`. Continues from an earlier state if the messages begin with the same
   * objects. The state may be extended later, so results must be copies.
   */
  fold<State>(messages: readonly LlmMessage[], { rules, start, step }: Fold<State>): State {
    const [first] = messages;
    if (first === undefined) return start();
    const key = JSON.stringify(rules);
    const earlier = this.#known.get(first);
    const goesOn = earlier?.rules === key && beginsWith(messages, earlier.messages);
    const progress = goesOn ? earlier : { rules: key, messages: [], state: start() };
    // Equal rules identify the same fold and therefore the type.
    const state = progress.state as State;
    // Discards the state after an error, because it may be inconsistent.
    this.#known.delete(first);
    for (let at = progress.messages.length; at < messages.length; at++) {
      const message = messages[at];
      if (message === undefined) continue;
      step(state, message, at);
      progress.messages.push(message);
    }
    this.#known.set(first, progress);
    return state;
  }
}
