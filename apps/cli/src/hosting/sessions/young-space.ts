import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

const maxBytes = 16 * 1024 * 1024;

/**
 * Keeps V8's young generation small in a host with many sessions. Otherwise it grows to 128 MB, because some
 * objects of each streaming session survive every collection; collecting 16 MB more often takes no longer per
 * delta (rows `many-sessions`).
 *
 * @returns a function to call whenever a session is opened, because V8 accepts the limit only while it runs
 */
export function youngSpaceBound(): () => void {
  let isBound = false;
  return () => {
    if (isBound) return;
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
    isBound = (young?.space_size ?? 0) >= maxBytes;
    if (isBound) setFlagsFromString("--semi-space-growth-factor=1");
  };
}
