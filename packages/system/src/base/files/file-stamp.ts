import { type BigIntStats, statSync } from "node:fs";
import { attempt } from "../attempt.ts";

/** A file that was written less than this long ago may be written again within the same clock tick. */
const recentMs = 2_000;
/** The same for clocks with fractions of a millisecond: these tick at least every ten milliseconds. */
const recentFineMs = 100;

/** The stats of what a path leads to; undefined if there is nothing or it cannot be read. */
export function statOf(path: string): BigIntStats | undefined {
  return attempt(() => statSync(path, { bigint: true, throwIfNoEntry: false }));
}

/** A text that changes when a file is written or replaced, or when the list of names in a folder changes. */
export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join();
}

/** Whether the next change might leave the same stamp. */
export function isRecent({ mtimeMs, ctimeMs, ctimeNs }: BigIntStats): boolean {
  const changed = mtimeMs > ctimeMs ? mtimeMs : ctimeMs;
  const isFine = ctimeNs % 1_000_000n !== 0n;
  return Date.now() - Number(changed) < (isFine ? recentFineMs : recentMs);
}
