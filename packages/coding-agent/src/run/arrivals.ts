import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { SparseSet, unlessAborted } from "@tau-agent/system";

/**
 * How long an abort waits for a prompt to be taken in, whose run it then stops. What takes longer
 * (a command for a key, an image's download, an extension) is called off.
 */
const CALL_OFF_AFTER_MS = 250;

/** Gives what a promise gives, unless the prompt is called off before. */
export type OrCalledOff = <Value>(work: Promise<Value>) => Promise<Value>;

/** The prompts that are being taken in: extensions or the admission still hold them. */
export class Arrivals {
  readonly #arriving = new SparseSet<Promise<unknown>>();
  #calledOff = new AbortController();

  /** Keeps a prompt here until it is accepted or refused. */
  note<Value>(acceptance: Promise<Value>): Promise<Value> {
    const leave = (): void => void this.#arriving.delete(acceptance);
    this.#arriving.add(acceptance);
    acceptance.then(leave, leave);
    return acceptance;
  }

  /** For one prompt, which an abort after now may call off. */
  orCalledOff(): OrCalledOff {
    const { signal } = this.#calledOff;
    return (work) => unlessAborted(work, signal, () => new SessionError("prompt_aborted"));
  }

  /** Resolves once all that are here now are accepted or refused; soon, since slow work is called off. */
  async settle(): Promise<void> {
    const calledOff = this.#calledOff;
    // Messages from now on were sent after the abort, so they are meant to be delivered.
    this.#calledOff = new AbortController();
    const timer = setTimeout(() => calledOff.abort(), CALL_OFF_AFTER_MS);
    await Promise.allSettled([...this.#arriving]);
    clearTimeout(timer);
  }
}
