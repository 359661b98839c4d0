import { Worker } from "node:worker_threads";
import type { RulePattern } from "../resources/rules/rule-pattern.ts";
import { type MatchRequest, type MatchResponse, matchInWorker } from "./match-worker.ts";
import type { Probe } from "./text-window.ts";

export interface MatchResult {
  readonly matched: readonly number[];
  /** Unusable patterns: their search never ends, or fails. */
  readonly hopeless: readonly number[];
  /** Patterns that took long, with their time in ms. */
  readonly slow: readonly (readonly [number, number])[];
}

interface Task {
  readonly probes: readonly Probe[];
  readonly signal: AbortSignal;
  readonly resolve: (result: Partial<MatchResult>) => void;
  attempts: number;
  /** The pattern that was being searched for when the time ran out. */
  suspect: number | undefined;
}

const LIMIT_MS = 500;
/** A busy machine may stall the thread this long, but hardly twice with the same pattern. */
const MAX_ATTEMPTS = 4;
/** How often to extend the wait for a thread that has not reached the request yet. */
const MAX_WAITS = 20;
/** A search that takes longer counts as slow. */
const SLOW_MS = 50;
/** An idle thread ends after this time. */
const IDLE_MS = 10_000;

/**
 * Searches texts for patterns in a separate thread, so that a pattern that backtracks endlessly
 * cannot block the host; it is given up at its time limit. The thread starts with the first
 * request, handles one at a time, and ends when idle for a while.
 */
export class MatchThread {
  readonly #progress = new Int32Array(new SharedArrayBuffer(4));
  /** All patterns so far, by number; each is sent to the thread once. */
  readonly #patterns: RulePattern[] = [];
  readonly #numbers = new Map<string, number>();
  /** How many of them the thread has received. */
  #sent = 0;
  /** Unusable patterns; requests for them are refused at once. */
  readonly #hopeless = new Set<number>();
  readonly #queue = new Set<Task>();
  #worker: Worker | undefined;
  #current: Task | undefined;
  #limit: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #usedAt = 0;

  numberOf(pattern: RulePattern): number {
    const key = `${pattern.flags}/${pattern.source}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#patterns.push(pattern) - 1;
    this.#numbers.set(key, number);
    return number;
  }

  /** Searches the probes; never rejects. After an abort it resolves at once with nothing found. */
  search(probes: readonly Probe[], signal: AbortSignal): Promise<MatchResult> {
    return new Promise((resolve) => {
      const settle = (result: Partial<MatchResult>): void => {
        signal.removeEventListener("abort", onAbort);
        this.#queue.delete(task);
        resolve({ matched: [], hopeless: [], slow: [], ...result });
      };
      const onAbort = (): void => settle({});
      const task: Task = { probes, signal, resolve: settle, attempts: 0, suspect: undefined };
      if (signal.aborted) return settle({});
      signal.addEventListener("abort", onAbort, { once: true });
      this.#queue.add(task);
      this.#begin();
    });
  }

  #begin(): void {
    if (this.#current !== undefined) return;
    const [task] = this.#queue;
    if (task === undefined) {
      this.#usedAt = performance.now();
      // One timer for many requests: it checks again when it fires.
      this.#idle ??= setTimeout(() => this.#rest(), IDLE_MS).unref();
      return;
    }
    this.#queue.delete(task);
    const hopeless = this.#hopelessIn(task.probes);
    if (hopeless.length > 0) {
      task.resolve({ hopeless });
      this.#begin();
      return;
    }
    this.#current = task;
    task.attempts++;
    try {
      this.#send(task.probes);
      this.#watch(MAX_WAITS);
    } catch {
      // The thread could not be created, or its memory was refused.
      this.#fail();
    }
  }

  #hopelessIn(probes: readonly Probe[]): number[] {
    if (this.#hopeless.size === 0) return [];
    const numbers = new Set(probes.flatMap(({ patterns }) => patterns));
    return [...numbers].filter((number) => this.#hopeless.has(number));
  }

  #send(probes: readonly Probe[]): void {
    this.#worker ??= this.#start();
    const added = this.#patterns.slice(this.#sent).map(({ source, flags }) => ({ source, flags }));
    this.#worker.postMessage({ added, probes } satisfies MatchRequest);
    this.#sent = this.#patterns.length;
  }

  #start(): Worker {
    this.#progress[0] = 0;
    this.#sent = 0;
    const worker = new Worker(`(${matchInWorker.toString()})()`, {
      eval: true,
      env: {},
      execArgv: [],
      name: "stream-rules",
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 },
      workerData: { progress: this.#progress.buffer, slowMs: SLOW_MS },
    });
    worker.on("message", (response: unknown) => {
      if (worker === this.#worker && isResponse(response)) this.#finish(response);
    });
    const onEnd = (): void => {
      if (worker === this.#worker) this.#fail();
    };
    worker.on("error", onEnd);
    worker.on("exit", onEnd);
    // The thread must not keep the process alive; during a request, the time limit does.
    worker.unref();
    return worker;
  }

  #watch(waits: number): void {
    const limit = setTimeout(() => {
      // Wait one turn of the event loop: if the host was busy, the answer has arrived.
      setImmediate(() => {
        if (limit !== this.#limit) return;
        const isAtWork = Atomics.load(this.#progress, 0) !== 0;
        if (isAtWork || waits === 0) this.#fail();
        else this.#watch(waits - 1);
      });
    }, LIMIT_MS);
    this.#limit = limit;
  }

  #finish({ matched, failed, slow }: MatchResponse): void {
    const task = this.#current;
    this.#release();
    task?.resolve({ matched, hopeless: failed, slow });
    this.#begin();
  }

  /** Handles a request that never ended, or a dead thread. */
  #fail(): void {
    const task = this.#current;
    const atWork = Atomics.load(this.#progress, 0) - 1;
    this.#release();
    this.#stop();
    if (task !== undefined && !task.signal.aborted)
      this.#judge(task, atWork === -1 ? undefined : atWork);
    this.#begin();
  }

  #judge(task: Task, suspect: number | undefined): void {
    if (suspect !== undefined && suspect === task.suspect) {
      this.#hopeless.add(suspect);
      task.resolve({ hopeless: [suspect] });
    } else if (task.attempts < MAX_ATTEMPTS) {
      task.suspect = suspect;
      this.#queueFirst(task);
    } else {
      task.resolve({ hopeless: task.probes.flatMap(({ patterns }) => patterns) });
    }
  }

  /** Retry this request first, so that a hopeless pattern is found once for all requests. */
  #queueFirst(task: Task): void {
    const others = [...this.#queue];
    this.#queue.clear();
    for (const waiting of [task, ...others]) this.#queue.add(waiting);
  }

  #release(): void {
    clearTimeout(this.#limit);
    this.#limit = undefined;
    this.#current = undefined;
  }

  #rest(): void {
    this.#idle = undefined;
    if (this.#current !== undefined) return;
    const leftMs = this.#usedAt + IDLE_MS - performance.now();
    if (leftMs <= 0) this.#stop();
    else this.#idle = setTimeout(() => this.#rest(), leftMs).unref();
  }

  #stop(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
  }
}

// Node may post messages of its own on the channel.
function isResponse(message: unknown): message is MatchResponse {
  return typeof message === "object" && message !== null && "matched" in message;
}
