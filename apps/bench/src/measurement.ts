export interface BenchOptions {
  /** Fewer repetitions and smaller sizes, to check that it works. */
  readonly isQuick: boolean;
  /** Starts a host; `--mode rpc` and the like are appended. */
  readonly hostCommand: readonly [string, ...string[]];
  /** Starts an earlier build for comparison. */
  readonly beforeCommand?: readonly [string, ...string[]] | undefined;
}

export interface Row {
  /** What was measured, e.g. `text delta ×16000, full`. */
  readonly what: string;
  readonly unit: string;
  /** The host's best and median results. */
  readonly host: Summary;
  /** The floor's results, measured alternately with the host's. */
  readonly floor?: Summary;
  /** The results of an earlier build in the same run. */
  readonly before?: Summary;
  /** Describes the ratio: the host to the floor, or a large case to a small one. */
  readonly ratioOf?: string;
  readonly ratio?: number;
  /** The largest acceptable ratio. */
  readonly target?: number;
}

export interface Summary {
  readonly min: number;
  readonly median: number;
  readonly count: number;
}

export interface Measurement {
  readonly name: string;
  run(options: BenchOptions): Promise<Row[]>;
}

export function summarize(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const median =
    sorted.length % 2 === 1
      ? sorted[Math.floor(middle)]
      : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
  return { min: sorted[0] ?? Number.NaN, median: median ?? Number.NaN, count: sorted.length };
}

/** A row that compares the best or the median results of the host with those of the floor. */
export function comparedRow(
  { by = "min", ...spec }: Omit<Row, "host" | "floor" | "ratio"> & { by?: "min" | "median" },
  results: { readonly host: readonly number[]; readonly floor: readonly number[] },
): Row {
  const [host, floor] = [summarize(results.host), summarize(results.floor)];
  return { ...spec, host, floor, ratio: host[by] / floor[by] };
}

/** Whether a row meets its target; a row without a target always does. */
export function passes({ ratio, target }: Row): boolean {
  return target === undefined || (ratio !== undefined && ratio <= target);
}
