import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Long enough for sessions that end together, or are closed and opened again. */
const QUIET_MS = 500;
/** Less garbage is not worth a pause of idle sessions, which is longer the more the host keeps. */
const [WORTHWHILE_SHARE, WORTHWHILE_BYTES] = [0.25, 16 * 1024 * 1024];

/**
 * Makes V8 collect garbage once no session works. V8 collects only while a program allocates: idle sessions
 * would keep two or three times the memory that they need, and each wave of sessions would leave the host
 * larger than the one before (rows `many-sessions`).
 *
 * @returns a function to call whenever a session has been opened or closed or has come to rest, with the
 *   number of open sessions, and a function that tells whether one of them works
 */
export function garbageCollection(): (open: number, isWorking: () => boolean) => void {
  let timer: NodeJS.Timeout | undefined;
  let kept = 0;
  /** The most open sessions since the last collection. */
  let most = 0;
  const isMuch = () => usedBytes() >= kept * (1 + WORTHWHILE_SHARE) + WORTHWHILE_BYTES;
  return (open, isWorking) => {
    most = Math.max(most, open);
    clearTimeout(timer);
    timer = setTimeout(() => {
      // What closed sessions leave may not be much, but it adds up over many.
      const areMostClosed = open <= most / 2;
      if (isWorking() || !(areMostClosed || isMuch())) return;
      collect();
      kept = usedBytes();
      most = open;
    }, QUIET_MS).unref();
  };
}

function usedBytes(): number {
  return getHeapStatistics().used_heap_size;
}

function collect(): void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as (options: object) => void;
  // V8 refuses code that was compiled and kept under other flags.
  setFlagsFromString("--no-expose-gc");
  gc({ type: "major", execution: "sync", flavor: "last-resort" });
}
