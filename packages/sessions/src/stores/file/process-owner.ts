import { hostname } from "node:os";
import { isRunning, processStart } from "@tau-agent/system";

const form = /^process (\d+) on (.+?)(?: since (.+))?$/s;

/** This process as the owner of a lease: while it lives, nobody else on this machine is let in. */
export function processOwner(): string {
  const start = processStart(process.pid);
  const since = start === undefined ? "" : ` since ${start}`;
  return `process ${process.pid} on ${hostname()}${since}`;
}

export function isLivingOwner(owner: string | undefined): boolean {
  const [, pid, host, start] = form.exec(owner ?? "") ?? [];
  if (pid === undefined || host !== hostname() || !isRunning(Number(pid))) return false;
  // Its number may be another process's by now.
  const found = processStart(Number(pid));
  return start === undefined || found === undefined || start === found;
}
