export type Frame = Record<string, unknown>;

export class FrameQueue {
  readonly #frames: Frame[] = [];
  readonly #violation: ((frame: Frame) => string | undefined) | undefined;
  #problem: string | undefined;
  #count = 0;
  #hasEnded = false;
  #wake: (() => void) | undefined;

  /** `violation` returns why a frame is not allowed, if it is not. The first such frame fails the pending read. */
  constructor(violation?: (frame: Frame) => string | undefined) {
    this.#violation = violation;
  }

  get count(): number {
    return this.#count;
  }

  push(frame: Frame): void {
    this.#count += 1;
    this.#problem ??= this.#violation?.(frame);
    // No frame is delivered after an invalid one.
    if (this.#problem === undefined) this.#frames.push(frame);
    this.#wake?.();
  }

  end(): void {
    this.#hasEnded = true;
    this.#wake?.();
  }

  /**
   * The next frame; undefined if none comes in time or the output has ended.
   *
   * @throws {RangeError} for a frame that is not allowed
   */
  async next(timeoutMs = 60_000): Promise<Frame | undefined> {
    this.#check();
    if (this.#frames.length === 0 && !this.#hasEnded) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, timeoutMs);
      await promise;
      clearTimeout(timer);
      if (this.#frames.length === 0) this.#check();
    }
    return this.#frames.shift();
  }

  #check(): void {
    if (this.#problem !== undefined) throw new RangeError(this.#problem);
  }
}
