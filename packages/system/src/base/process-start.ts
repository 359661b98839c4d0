import { readFileSync } from "node:fs";

/**
 * When a process started, as a text that no other process with its number has; undefined where the
 * system does not say so in files.
 */
export function processStart(pid: number): string | undefined {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    // The name in brackets may contain anything; the start is the 20th field after it.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    return start === undefined ? undefined : `${boot} ${start}`;
  } catch {
    return undefined;
  }
}
