import type { LlmMessage } from "@tau-agent/rpc-protocol/messages";

/** How something is made of messages, one after the other. */
export interface Fold<State> {
  /** Everything besides the messages that the state depends on, as JSON can hold it. */
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
 * What was made of the messages of earlier requests. A settled message never changes and a request
 * repeats all those before it: without a memory, each turn would cost more than the one before (row
 * `read-turn-growth`). A conversation is known by its first message and forgotten with it.
 */
export class Memo {
  readonly #known = new WeakMap<object, Progress>();

  /**
   * The state after all of `messages`. Goes on from an earlier one where they begin with the same
   * objects. Messages may follow later, so what is handed on must be a copy.
   */
  fold<State>(messages: readonly LlmMessage[], { rules, start, step }: Fold<State>): State {
    const [first] = messages;
    if (first === undefined) return start();
    const key = JSON.stringify(rules);
    const earlier = this.#known.get(first);
    const goesOn =
      earlier?.rules === key && earlier.messages.every((known, at) => known === messages[at]);
    const progress = goesOn ? earlier : { rules: key, messages: [], state: start() };
    // Equal rules name the same fold, and with it the type.
    const state = progress.state as State;
    // A step that throws leaves nothing behind to go on from.
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
