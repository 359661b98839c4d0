export const guardCells = {
  /** The number of the last ping that the host's thread has answered. */
  answered: 0,
  /** One of {@link inputStates}. */
  input: 1,
} as const;

export const inputStates = {
  open: 0,
  /** The input has ended, and the host has answered all of it. */
  answered: 1,
  /** The input has ended, but the host has not answered all of it yet. */
  owed: 2,
} as const;

export interface GuardData {
  readonly memory: SharedArrayBuffer;
  readonly cells: typeof guardCells;
  readonly inputStates: typeof inputStates;
  /** Numbers of the signals that end the host. */
  readonly signals: readonly number[];
  /** An expression that reads the input on the host's thread. */
  readonly readInput: string;
  /** An expression for a function that takes the exit code and ends the process. */
  readonly exit: string;
}

/**
 * Ends a host whose thread is stuck in code that does not return. Only the event loop of a thread receives signals, so
 * this thread needs its own handlers. Node does not offer signal handlers to threads, so they are taken from its
 * internals. Through the inspector, this thread makes the process exit in the middle of whatever the host's thread is
 * executing. If that fails, it kills the process. The watchdog of the children does the rest.
 *
 * The function runs from its own source text, so it must not use anything outside of itself.
 */
export function guardInWorker(): void {
  const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads");
  const { memory, cells, inputStates, signals, readInput, exit }: GuardData = workerData;
  const shared = new Int32Array(memory);
  const idleTickMs = 1_000;
  const busyTickMs = 200;
  /** After so long without an answer, the host's thread counts as stuck. */
  const stalledMs = 2_000;
  /** How long the shutdown may take in total, and how long without an answer. */
  const signalLimits = { totalMs: 4_600, silentMs: 2_500 };
  /** Limits for the end of the input, which is noticed up to 3 s late. */
  const inputLimits = { totalMs: 1_600, silentMs: 0 };
  /** Everything before the end of the input must be answered, so a slow start gets more time. */
  const owedMs = 20_000;
  const secondSignalMs = 100;
  /** How long the host's thread may take to exit. */
  const exitMs = 300;

  let asked = 0;
  let aliveAt = performance.now();
  let end: { code: number; exitAt: number; silentMs: number } | undefined;
  let killAt: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  function evaluate(expression: string): void {
    try {
      const { Session } = process.getBuiltinModule("node:inspector");
      const session = new Session();
      session.connectToMainThread();
      session.post("Runtime.evaluate", { expression });
      session.disconnect();
    } catch {
      // Without an inspector, the kill is the only option.
    }
  }

  function beginEnd(code: number, { totalMs, silentMs }: typeof signalLimits): void {
    end ??= { code, exitAt: performance.now() + totalMs, silentMs };
  }

  function tick(): void {
    const now = performance.now();
    if (Atomics.load(shared, cells.answered) === asked) {
      aliveAt = now;
      asked += 1;
      parentPort?.postMessage(asked);
    }
    const silentMs = now - aliveAt;
    if (end === undefined && silentMs >= stalledMs) {
      const input = Atomics.load(shared, cells.input);
      if (input === inputStates.open) evaluate(readInput);
      else if (input === inputStates.answered || silentMs >= owedMs) beginEnd(0, inputLimits);
    }
    if (killAt !== undefined && now >= killAt) process.kill(process.pid, "SIGKILL");
    if (end !== undefined && (now >= end.exitAt || silentMs > end.silentMs)) {
      if (killAt === undefined) evaluate(`(${exit})(${end.code})`);
      killAt ??= now + exitMs;
    }
    clearTimeout(timer);
    const isCalm = end === undefined && silentMs < stalledMs;
    timer = setTimeout(tick, isCalm ? idleTickMs : busyTickMs);
  }

  function onSignal(number: number): void {
    const now = performance.now();
    if (end === undefined) {
      if (now - aliveAt < stalledMs) aliveAt = now;
      beginEnd(128 + number, signalLimits);
    } else {
      end.exitAt = Math.min(end.exitAt, now + secondSignalMs);
    }
    tick();
  }

  const load = Reflect.get(globalThis, "require") as (name: string) => {
    internalBinding(name: string): {
      Signal: new () => { onsignal: (number: number) => void; start(signal: number): number };
    };
  };
  const { Signal } = load("internal/test/binding").internalBinding("signal_wrap");
  for (const number of signals) {
    const signal = new Signal();
    signal.onsignal = onSignal;
    signal.start(number);
    // A handle that is garbage-collected stops listening.
    Reflect.set(globalThis, `signal${number}`, signal);
  }
  tick();
}
