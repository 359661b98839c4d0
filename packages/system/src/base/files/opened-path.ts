import { readlinkSync } from "node:fs";
import { attempt } from "../attempt.ts";

/** The kernel's path of an open file or folder; undefined where there is no `/proc`. */
export function openedPath(descriptor: number): string | undefined {
  return attempt(() => readlinkSync(heldPath(descriptor)));
}

/** A path to an open folder that stays valid even if the folders around it are moved or replaced. */
export function heldPath(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`;
}
