import { readFileSync } from "node:fs";
import { attempt, processStat } from "@tau-agent/system";

/** Deeper than subagents are nested. */
const MAX_DEPTH = 32;

/**
 * The hosts above this one: the host of a subagent, and one that serves a session for another host, were
 * started by a host that may listen for clients. They run the same program; nothing else above them counts.
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
