import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Long enough for sessions that end together, or are closed and opened again. */
const QUIET_MS = 500;
/** Less garbage is not worth the pause. */
const WORTHWHILE_BYTES = 8 * 1024 * 1024;

/**
 * Makes V8 collect garbage once no session works. V8 collects only while a program allocates: idle sessions
 * would keep two or three times the memory that they need, and each wave of sessions would leave the host
 * larger than the one before (rows `many-sessions`).
 *
 * @returns a function to call whenever a session has come to rest or has been closed, with what says whether
 *   all sessions are at rest
 */
export function garbageCollection(): (isQuiet: () => boolean) => void {
  let timer: NodeJS.Timeout | undefined;
  let kept = 0;
  return (isQuiet) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (!isQuiet() || usedBytes() < kept + WORTHWHILE_BYTES) return;
      collect();
      kept = usedBytes();
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
