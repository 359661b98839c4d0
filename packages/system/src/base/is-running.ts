import { processStat } from "./process-stat.ts";

/** Whether a process of this machine runs, of any user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // One that was killed keeps its number until it is reaped, which in a container may be never.
    return !/^[ZX]/.test(processStat(pid)?.[0] ?? "");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
