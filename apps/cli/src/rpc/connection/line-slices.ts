/** Collects answers while lines are processed. */
export interface AnswerGatherer {
  hold(): void;
  flush(): void;
}

/** How many lines are processed before their answers are sent. */
const LINES_PER_SLICE = 64;

/**
 * Processes the lines of a client in order. A pipe accepts only a few answers at a time, and more only in a
 * later turn of the event loop. After some lines, the reader therefore gets a turn, so that a client reads
 * the first answers while the host produces the others (row "2 000 in one write").
 */
export class LineSlices<Line> {
  readonly #take: (line: Line) => void;
  readonly #answers: AnswerGatherer;
  #lines: Line[] = [];
  #next = 0;
  #isScheduled = false;
  #idle: PromiseWithResolvers<void> | undefined;

  /** @param answers - flushed when the reader gets its turn */
  constructor(take: (line: Line) => void, answers: AnswerGatherer) {
    this.#take = take;
    this.#answers = answers;
  }

  /** Takes lines, and processes them at once if no others wait. */
  push(lines: Iterable<Line>): void {
    for (const line of lines) this.#lines.push(line);
    if (!this.#isScheduled) this.#work();
  }

  /** Resolves when no line waits any more. */
  async idle(): Promise<void> {
    if (!this.#isScheduled) return;
    this.#idle ??= Promise.withResolvers();
    await this.#idle.promise;
  }

  #work(): void {
    const end = Math.min(this.#next + LINES_PER_SLICE, this.#lines.length);
    this.#answers.hold();
    while (this.#next < end) this.#take(this.#lines[this.#next++] as Line);
    this.#answers.flush();
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
