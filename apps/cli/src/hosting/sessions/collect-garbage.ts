import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Another session may be opened at once. */
const quietMs = 1_000;

/**
 * Makes V8 collect what closed sessions have left. It does not by itself while nothing runs, so each wave of
 * sessions would leave the host larger than the one before (rows `many-sessions`).
 *
 * @returns a function to call when the last session was closed, with what says whether there are others by now
 */
export function garbageCollection(): (isEmpty: () => boolean) => void {
  let timer: NodeJS.Timeout | undefined;
  let collect: ((options: object) => void) | undefined;
  return (isEmpty) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (!isEmpty()) return;
      if (collect === undefined) {
        setFlagsFromString("--expose-gc");
        collect = runInNewContext("gc") as typeof collect;
      }
      collect?.({ type: "major", execution: "sync", flavor: "last-resort" });
    }, quietMs).unref();
  };
}
