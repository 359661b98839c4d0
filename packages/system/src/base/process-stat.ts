import { readFileSync } from "node:fs";
import { attempt } from "./attempt.ts";

/**
 * The fields of a process's stat file in Linux, from its state on: parent, group and so on, as in
 * proc(5). Undefined if the process has ended, and on other systems.
 */
export function processStat(pid: number | string): readonly string[] | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  // The name in brackets before these fields may contain anything.
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
}
