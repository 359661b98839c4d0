import { readdirSync, readFileSync } from "node:fs";

export function cpuMicroseconds(pid: number): number {
  let nanoseconds = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    nanoseconds += Number(read(`/proc/${pid}/task/${task}/schedstat`).split(" ")[0]);
  }
  return nanoseconds / 1_000;
}

export function residentMib(pid: number): number {
  return statusMib(pid, "VmRSS");
}

export function peakMib(pid: number): number {
  return statusMib(pid, "VmHWM");
}

/** The current memory of a process in MiB, counting shared pages proportionally. */
export function proportionalMib(pid: number): number {
  const found = /^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`));
  return Number(found?.[1]) / 1024;
}

/** The parts of resident memory in MiB, by mapped file or purpose. */
export function residentParts(pid: number): Record<string, number> {
  const parts: Record<string, number> = {};
  let part = "";
  for (const line of read(`/proc/${pid}/smaps`).split("\n")) {
    const mapping = /^[\da-f]+-[\da-f]+ \S+ \S+ \S+ \d+ *(.*)$/.exec(line);
    if (mapping) part = partName(mapping[1] ?? "");
    const size = /^Rss: +(\d+) kB/.exec(line);
    if (size) parts[part] = (parts[part] ?? 0) + Number(size[1]) / 1024;
  }
  return parts;
}

function partName(mapped: string): string {
  if (mapped.startsWith("/"))
    return mapped.endsWith("/node") ? "Node's program" : "libraries and files";
  if (mapped === "[heap]") return "memory of native code";
  return mapped.startsWith("[stack") ? "stacks" : "V8's heap, its code, and large native blocks";
}

function statusMib(pid: number, key: string): number {
  const found = new RegExp(`^${key}:\\s+(\\d+) kB`, "m").exec(read(`/proc/${pid}/status`));
  return Number(found?.[1]) / 1024;
}

/** A thread may end between being listed and being read. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "0";
  }
}
