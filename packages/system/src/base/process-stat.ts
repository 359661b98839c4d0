import { readFileSync } from "node:fs";
import { attempt } from "./attempt.ts";

/**
 * What Linux tells of a process, from its state on: parent, group, … as in proc(5). Undefined when it has
 * ended, and on systems that do not say so in files.
 */
export function processStat(pid: number | string): readonly string[] | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  // The name in brackets before it may contain anything.
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
}
