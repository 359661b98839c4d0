import { now } from "./clock.ts";

const updatePrefix = Buffer.from('{"type":"message_update"');

interface Waiter {
  readonly matches: (frame: Frame) => boolean;
  readonly resolve: (frame: Frame) => void;
  readonly reject: (error: Error) => void;
}

export type Frame = Record<string, unknown>;

/**
 * The frames that a host sends to a client. Lines of streamed text are counted but not parsed; otherwise, the
 * benchmark itself would be the slow reader.
 */
export abstract class FrameReceiver {
  /** The number of frames of streamed text. */
  updates = 0;
  /** When the last parsed frame had arrived completely. */
  lastFrameAt = 0;
  /** Called with each frame of streamed text. */
  onUpdate: ((line: Buffer) => void) | undefined;
  readonly #waiters = new Set<Waiter>();
  #deltaWaiter: ((at: number) => void) | undefined;

  abstract send(frame: Frame): void;

  /** Resolves with the time at which the next frame of streamed text arrives. */
  nextDelta(): Promise<number> {
    return new Promise((resolve) => {
      this.#deltaWaiter = resolve;
    });
  }

  next(matches: (frame: Frame) => boolean): Promise<Frame> {
    return new Promise((resolve, reject) => {
      this.#waiters.add({ matches, resolve, reject });
    });
  }

  /** Sends a command and returns the data of its response. */
  async request(type: string, fields: Frame = {}): Promise<unknown> {
    const answer = this.next((frame) => frame.type === "response" && frame.command === type);
    this.send({ id: "bench", type, ...fields });
    const { success, error, data } = await answer;
    if (success !== true) throw new Error(`${type}: ${String(error)}`);
    return data;
  }

  /** Takes a frame without its line feed. */
  protected take(line: Buffer): void {
    if (line.subarray(0, updatePrefix.length).equals(updatePrefix)) {
      this.updates += 1;
      this.onUpdate?.(line);
      if (this.#deltaWaiter && line.includes('"delta":"')) {
        this.#deltaWaiter(now());
        this.#deltaWaiter = undefined;
      }
      return;
    }
    this.lastFrameAt = now();
    const frame = JSON.parse(line.toString()) as Frame;
    for (const waiter of [...this.#waiters]) {
      if (!waiter.matches(frame)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(frame);
    }
  }

  /** No more frames will arrive. */
  protected fail(error: Error): void {
    for (const waiter of this.#waiters) waiter.reject(error);
    this.#waiters.clear();
  }
}
