import { isRunning } from "./is-running.ts";
import { processStart } from "./process-start.ts";

/** A process named in a file. Its number alone may belong to another process later. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly start?: string | undefined;
}

export function ownIdentity(): ProcessIdentity {
  const { pid } = process;
  return { pid, start: processStart(pid) };
}

/** Whether a process still runs, paused or not. */
export function isAlive({ pid, start }: ProcessIdentity): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0 || !isRunning(pid)) return false;
  const now = processStart(pid);
  return start === undefined || now === undefined || start === now;
}
