import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

const maxBytes = 16 * 1024 * 1024;

/**
 * Keeps V8's young generation small in a host with many sessions. Otherwise it grows to 128 MB, because some
 * objects of each streaming session survive every collection; collecting 16 MB more often takes no longer per
 * delta (rows `many-sessions`). V8 shrinks it while the host is idle, and it must be able to grow again then.
 *
 * @returns a function to call whenever a session is opened, because V8 accepts the limit only while it runs
 */
export function youngSpaceBound(): () => void {
  let isBound = false;
  return () => {
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
    const isFull = (young?.space_size ?? 0) >= maxBytes;
    if (isFull === isBound) return;
    isBound = isFull;
    setFlagsFromString(`--semi-space-growth-factor=${isFull ? 1 : 2}`);
  };
}
