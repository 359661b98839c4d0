import { readdirSync, readFileSync } from "node:fs";

/** CPU time of a process in microseconds, all its live threads together. */
export function cpuMicroseconds(pid: number): number {
  let nanoseconds = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    nanoseconds += Number(read(`/proc/${pid}/task/${task}/schedstat`).split(" ")[0]);
  }
  return nanoseconds / 1_000;
}

/** Current memory of a process, in MiB. */
export function residentMib(pid: number): number {
  return statusMib(pid, "VmRSS");
}

/** Peak memory of a process, in MiB. */
export function peakMib(pid: number): number {
  return statusMib(pid, "VmHWM");
}

/** Current memory of a process in MiB; of pages shared with others, its share. */
export function proportionalMib(pid: number): number {
  const found = /^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`));
  return Number(found?.[1]) / 1024;
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
