import type { Probe } from "./text-window.ts";

/** What the worker is asked. */
export interface MatchRequest {
  readonly patterns: readonly {
    readonly source: string;
    readonly flags: string;
    readonly isLineBound: boolean;
  }[];
  readonly probes: readonly Probe[];
}

/** What the worker answers; patterns by their places in the request. */
export interface MatchResponse {
  readonly matched: readonly number[];
  /** Patterns that gave up with an error, as those do that nest too deep. */
  readonly failed: readonly number[];
  /** Patterns that took long, and how long, in ms. */
  readonly slow: readonly (readonly [number, number])[];
}

/** What the worker is started with. */
interface MatchWorkerData {
  /** One cell: the pattern at work, counted from 1; 0 between requests. */
  readonly progress: SharedArrayBuffer;
  /** From how many ms on a pattern is reported as slow. */
  readonly slowMs: number;
}

/**
 * Searches texts in a worker thread, one request at a time. Runs from its own source text: a bundle
 * has no file for a worker to load. So nothing outside of this function may be used in it.
 */
export function matchInWorker(): void {
  const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads");
  const { progress, slowMs }: MatchWorkerData = workerData;
  const atWork = new Int32Array(progress);
  const compiled = new Map<string, RegExp>();

  function compile(source: string, flags: string): RegExp {
    const key = `${flags}/${source}`;
    const known = compiled.get(key);
    if (known !== undefined) return known;
    if (compiled.size > 1000) compiled.clear();
    const made = new RegExp(source, `${flags}g`);
    compiled.set(key, made);
    return made;
  }

  function answer({ patterns, probes }: MatchRequest): MatchResponse {
    const matched = new Set<number>();
    const failed = new Set<number>();
    const spent = new Map<number, number>();
    for (const { text, start, fresh, patterns: wanted } of probes) {
      const line = Math.max(start, fresh === 0 ? 0 : text.lastIndexOf("\n", fresh - 1) + 1);
      for (const place of wanted) {
        const pattern = patterns[place];
        if (pattern === undefined || matched.has(place) || failed.has(place)) continue;
        Atomics.store(atWork, 0, place + 1);
        const began = performance.now();
        try {
          const search = compile(pattern.source, pattern.flags);
          search.lastIndex = pattern.isLineBound ? line : start;
          if (search.test(text)) matched.add(place);
        } catch {
          failed.add(place);
        }
        spent.set(place, (spent.get(place) ?? 0) + performance.now() - began);
      }
    }
    Atomics.store(atWork, 0, 0);
    const slow = [...spent].filter(([, ms]) => ms >= slowMs);
    return { matched: [...matched], failed: [...failed], slow };
  }

  parentPort?.on("message", (request: MatchRequest) => parentPort.postMessage(answer(request)));
}
