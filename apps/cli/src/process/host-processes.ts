import { readFileSync } from "node:fs";
import { attempt, processStat } from "@tau-agent/system";

/** More than the maximum depth of subagents. */
const MAX_DEPTH = 32;

/**
 * The process ids of the hosts above this one. A subagent's host, or a host that serves one session for
 * another host, was started by a host that may listen for clients. Hosts are recognised by running the same
 * program; the search stops at the first other process.
 */
export function hostsAbove(program: readonly string[], parent = process.ppid): number[] {
  const found: number[] = [];
  for (let at = parent; at > 1 && found.length < MAX_DEPTH; at = parentOf(at)) {
    if (!runs(at, program.at(-1) ?? "")) break;
    found.push(at);
  }
  return found;
}

function runs(process: number, script: string): boolean {
  return (
    attempt(() => readFileSync(`/proc/${process}/cmdline`, "utf8").split("\0").includes(script)) ??
    false
  );
}

function parentOf(process: number): number {
  return Number(processStat(process)?.[1] ?? 0);
}
