import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { SparseSet, unlessAborted } from "@tau-agent/system";

/**
 * How long an abort waits for a prompt that is being accepted, so that it can stop the prompt's
 * run. Anything slower (a command for a key, an image download, an extension) is cancelled.
 */
const CALL_OFF_AFTER_MS = 250;

/** Returns a promise's result, unless the prompt is cancelled first. */
export type OrCalledOff = <Value>(work: Promise<Value>) => Promise<Value>;

/** Prompts that are being accepted: extensions or the admission still hold them. */
export class Arrivals {
  readonly #arriving = new SparseSet<Promise<unknown>>();
  #calledOff = new AbortController();

  /** Tracks a prompt until it is accepted or refused. */
  note<Value>(acceptance: Promise<Value>): Promise<Value> {
    const leave = (): void => void this.#arriving.delete(acceptance);
    this.#arriving.add(acceptance);
    acceptance.then(leave, leave);
    return acceptance;
  }

  /** For one prompt, which a later abort may cancel. */
  orCalledOff(): OrCalledOff {
    const { signal } = this.#calledOff;
    return (work) => unlessAborted(work, signal, () => new SessionError("prompt_aborted"));
  }

  /** Resolves once all current prompts are accepted or refused; this is soon, because slow work is cancelled. */
  async settle(): Promise<void> {
    const calledOff = this.#calledOff;
    // Messages sent after the abort are meant to be delivered.
    this.#calledOff = new AbortController();
    const timer = setTimeout(() => calledOff.abort(), CALL_OFF_AFTER_MS);
    await Promise.allSettled([...this.#arriving]);
    clearTimeout(timer);
  }
}
