export type Frame = Record<string, unknown>;

export class FrameQueue {
  readonly #frames: Frame[] = [];
  readonly #violation: ((frame: Frame) => string | undefined) | undefined;
  #problem: string | undefined;
  #count = 0;
  #hasEnded = false;
  #wake: (() => void) | undefined;

  /** `violation` says of every frame why it must not be; the first that is ends the waiting. */
  constructor(violation?: (frame: Frame) => string | undefined) {
    this.#violation = violation;
  }

  get count(): number {
    return this.#count;
  }

  push(frame: Frame): void {
    this.#count += 1;
    this.#problem ??= this.#violation?.(frame);
    // After that nobody gets another.
    if (this.#problem === undefined) this.#frames.push(frame);
    this.#wake?.();
  }

  end(): void {
    this.#hasEnded = true;
    this.#wake?.();
  }

  /**
   * The next frame; undefined when none comes in time, or none will.
   *
   * @throws {RangeError} when a frame must not be
   */
  async next(timeoutMs = 8_000): Promise<Frame | undefined> {
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
