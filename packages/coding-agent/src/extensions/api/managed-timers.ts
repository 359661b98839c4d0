/** Timers that end with the session and report failures in their callbacks. */
export interface ManagedTimers {
  setTimeout(
    callback: (...given: never[]) => unknown,
    afterMs?: number,
    ...given: unknown[]
  ): NodeJS.Timeout;
  setInterval(
    callback: (...given: never[]) => unknown,
    everyMs?: number,
    ...given: unknown[]
  ): NodeJS.Timeout;
  clearTimer(timer: NodeJS.Timeout | undefined): void;
}

/** Creates timers; they no longer run once `isAlive` returns false. None keeps the host alive. */
export function managedTimers(
  isAlive: () => boolean,
  onFailure: (event: string, error: unknown) => void,
): ManagedTimers {
  const run = (name: string, callback: () => unknown, stop: () => void): void => {
    if (!isAlive()) stop();
    else new Promise((done) => done(callback())).catch((error: unknown) => onFailure(name, error));
  };
  return {
    setTimeout: (callback, afterMs = 0, ...given) =>
      setTimeout(
        () =>
          run(
            "timeout",
            () => callback(...(given as never[])),
            () => {},
          ),
        afterMs,
      ).unref(),
    setInterval: (callback, everyMs = 0, ...given) => {
      const timer: NodeJS.Timeout = setInterval(
        () =>
          run(
            "interval",
            () => callback(...(given as never[])),
            () => clearInterval(timer),
          ),
        everyMs,
      );
      return timer.unref();
    },
    clearTimer: (timer) => clearTimeout(timer),
  };
}
