/** The number of system calls by program, from the tables of `strace -c`. */
export class SystemCalls {
  readonly #counts = new Map<string, number>();

  constructor(tables: readonly string[]) {
    for (const table of tables) {
      for (const [, count, name = ""] of table.matchAll(
        /^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(?!total$)([a-z]\w*)$/gm,
      )) {
        this.#counts.set(name, (this.#counts.get(name) ?? 0) + Number(count));
      }
    }
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  top(count: number): { readonly name: string; readonly count: number }[] {
    const all = [...this.#counts].map(([name, times]) => ({ name, count: times }));
    return all.sort((left, right) => right.count - left.count).slice(0, count);
  }
}
