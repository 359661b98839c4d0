/** Limits the number of tasks that run at once; the others wait in the order of the calls. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // Passes the slot on directly, so that no later call can take it.
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
