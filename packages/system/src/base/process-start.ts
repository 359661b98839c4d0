import { readFileSync } from "node:fs";
import { attempt } from "./attempt.ts";
import { processStat } from "./process-stat.ts";

/**
 * The start of a process, as a text that no other process with the same number has; undefined on
 * systems without such files.
 */
export function processStart(pid: number): string | undefined {
  const start = processStat(pid)?.[19];
  const boot = start && attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8"));
  return boot && `${boot.trim()} ${start}`;
}
