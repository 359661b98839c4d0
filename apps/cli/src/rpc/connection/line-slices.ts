/** Where answers gather while lines are worked off. */
export interface AnswerGatherer {
  hold(): void;
  flush(): void;
}

/** How many lines are worked off before what they were answered with may leave. */
const LINES_PER_SLICE = 64;

/**
 * Works off the lines of a client, in their order. A pipe takes a few answers at a time, and the rest
 * only between turns of the event loop: after some lines it is the reader's turn, so that a client reads
 * the first answers while the host makes the others (row "2 000 in one write").
 */
export class LineSlices<Line> {
  readonly #take: (line: Line) => void;
  readonly #answers: AnswerGatherer;
  #lines: Line[] = [];
  #next = 0;
  #isScheduled = false;
  #idle: PromiseWithResolvers<void> | undefined;

  /** @param answers - leave together when it is the reader's turn */
  constructor(take: (line: Line) => void, answers: AnswerGatherer) {
    this.#take = take;
    this.#answers = answers;
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
