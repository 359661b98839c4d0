import type { Probe } from "./text-window.ts";

export interface MatchRequest {
  /** New patterns, numbered after the existing ones. */
  readonly added: readonly { readonly source: string; readonly flags: string }[];
  readonly probes: readonly Probe[];
}

export interface MatchResponse {
  readonly matched: readonly number[];
  /** Patterns whose search failed, such as too deeply nested ones. */
  readonly failed: readonly number[];
  /** Patterns that took long, and how long, in ms. */
  readonly slow: readonly (readonly [number, number])[];
}

interface MatchWorkerData {
  /** A single cell with the number of the current pattern, counted from 1; 0 between requests. */
  readonly progress: SharedArrayBuffer;
  /** Time after which a pattern is reported as slow, in ms. */
  readonly slowMs: number;
}

/**
 * Searches texts in a worker thread, one request at a time. The function's source text is the worker's code, because a
 * bundle has no file for a worker to load. It must therefore not use anything outside of itself.
 */
export function matchInWorker(): void {
  const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads");
  const { progress, slowMs }: MatchWorkerData = workerData;
  const atWork = new Int32Array(progress);
  const searches: RegExp[] = [];

  function answer(probes: readonly Probe[]): MatchResponse {
    const matched: number[] = [];
    const failed: number[] = [];
    const slow = new Map<number, number>();
    let began = performance.now();
    for (const { text, start, patterns } of probes) {
      for (const number of patterns) {
        const search = searches[number];
        if (search === undefined || matched.includes(number)) continue;
        Atomics.store(atWork, 0, number + 1);
        try {
          search.lastIndex = start;
          if (search.test(text)) matched.push(number);
        } catch {
          failed.push(number);
        }
        const ended = performance.now();
        if (ended - began >= slowMs) slow.set(number, (slow.get(number) ?? 0) + ended - began);
        began = ended;
      }
    }
    Atomics.store(atWork, 0, 0);
    return { matched, failed, slow: [...slow] };
  }

  parentPort?.on("message", ({ added, probes }: MatchRequest) => {
    for (const { source, flags } of added) searches.push(new RegExp(source, `${flags}g`));
    parentPort.postMessage(answer(probes));
  });
}
