import { type BigIntStats, statSync } from "node:fs";
import { attempt } from "../attempt.ts";

/** A file that was written less than this ago may be written again in the same tick of its clock. */
const recentMs = 2_000;
/** The same where times have parts of a millisecond: such clocks tick every ten of them at most. */
const recentFineMs = 100;

/** What a path leads to; undefined if that is nothing, or cannot be asked. */
export function statOf(path: string): BigIntStats | undefined {
  return attempt(() => statSync(path, { bigint: true, throwIfNoEntry: false }));
}

/** Differs when a file was written or replaced; for a folder, when its list of names was. */
export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join();
}

/** Whether the next change might leave the same stamp. */
export function isRecent({ mtimeMs, ctimeMs, ctimeNs }: BigIntStats): boolean {
  const changed = mtimeMs > ctimeMs ? mtimeMs : ctimeMs;
  const isFine = ctimeNs % 1_000_000n !== 0n;
  return Date.now() - Number(changed) < (isFine ? recentFineMs : recentMs);
}
