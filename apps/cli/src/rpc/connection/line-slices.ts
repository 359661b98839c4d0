/** How many lines are worked off before what they were answered with may leave. */
const LINES_PER_SLICE = 64;

/**
 * Works off the lines of a client, in their order. A pipe takes a few answers at a time, and the rest
 * only between turns of the event loop: after some lines it is the reader's turn, so that a client reads
 * the first answers while the host makes the others (row "2 000 in one write").
 */
export class LineSlices<Line> {
  readonly #take: (line: Line) => void;
  readonly #onSlice: () => void;
  #lines: Line[] = [];
  #next = 0;
  #isScheduled = false;
  #idle: PromiseWithResolvers<void> | undefined;

  /** @param onSlice - called when lines were worked off and it is the reader's turn */
  constructor(take: (line: Line) => void, onSlice: () => void) {
    this.#take = take;
    this.#onSlice = onSlice;
  }

  /** Takes the lines, at once if none wait. */
  push(lines: Iterable<Line>): void {
    for (const line of lines) this.#lines.push(line);
    if (!this.#isScheduled) this.#work();
  }

  /** Fulfilled when no line waits any more. */
  async idle(): Promise<void> {
    if (!this.#isScheduled) return;
    this.#idle ??= Promise.withResolvers();
    await this.#idle.promise;
  }

  #work(): void {
    const end = Math.min(this.#next + LINES_PER_SLICE, this.#lines.length);
    while (this.#next < end) this.#take(this.#lines[this.#next++] as Line);
    this.#onSlice();
    this.#isScheduled = this.#next < this.#lines.length;
    if (this.#isScheduled) {
      setImmediate(() => this.#work());
      return;
    }
    this.#lines = [];
    this.#next = 0;
    this.#idle?.resolve();
    this.#idle = undefined;
  }
}
