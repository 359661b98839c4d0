import { processStat } from "./process-stat.ts";

/** Whether a process of any user runs on this machine. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A killed process keeps its number until it is reaped, which in a container may never happen.
    return !/^[ZX]/.test(processStat(pid)?.[0] ?? "");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
