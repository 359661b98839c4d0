/** A profile in V8's format; times are microseconds of the system's monotonic clock. */
export interface V8Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
    };
  }[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** A time span, in ms of the clock used by profiles. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export class SelfTimes {
  /** The time by function and module, in ms, without waiting. */
  readonly #byFunction = new Map<string, number>();

  get totalMs(): number {
    return [...this.#byFunction.values()].reduce((sum, ms) => sum + ms, 0);
  }

  top(count: number): { readonly name: string; readonly ms: number }[] {
    const all = [...this.#byFunction].map(([name, ms]) => ({ name, ms }));
    return all.sort((left, right) => right.ms - left.ms).slice(0, count);
  }

  add({ nodes, startTime, samples, timeDeltas }: V8Profile, spans: readonly Span[]): void {
    const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
    let at = startTime;
    for (const [index, sample] of samples.entries()) {
      // A sample's state lasted until the next sample.
      at += timeDeltas[index] ?? 0;
      const name = names.get(sample) ?? "?";
      const ms = Math.min((timeDeltas[index + 1] ?? 0) / 1_000, longestMs);
      if (name === idle || !spans.some(({ from, to }) => from <= at / 1_000 && at / 1_000 < to))
        continue;
      this.#byFunction.set(name, (this.#byFunction.get(name) ?? 0) + ms);
    }
  }
}

const idle = "(idle)";

/** A longer gap between two samples counts as another process's time. */
const longestMs = 0.5;

const native: Readonly<Record<string, string>> = {
  "(program)": "native code and system calls",
  "(garbage collector)": "garbage collection",
};

/** The readable name of a function: in Node, or in Tau's bundle, whose chunk names change. */
function nameOf({ functionName, url }: V8Profile["nodes"][number]["callFrame"]): string {
  const known = native[functionName];
  if (known !== undefined) return known;
  if (functionName === idle) return idle;
  const name = functionName === "" ? "(top level or unnamed)" : functionName;
  return url.startsWith("node:") ? `${name}, ${url}` : url === "" ? `${name}, V8` : name;
}
