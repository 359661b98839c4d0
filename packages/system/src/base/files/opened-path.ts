import { readlinkSync } from "node:fs";
import { attempt } from "../attempt.ts";

/** Where an open file or folder is, as the kernel has it; undefined where there is no `/proc`. */
export function openedPath(descriptor: number): string | undefined {
  return attempt(() => readlinkSync(heldPath(descriptor)));
}

/** A path to an open folder that stays the same whatever becomes of the folders around it. */
export function heldPath(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`;
}
