import { hostname } from "node:os";
import { isAlive, ownIdentity } from "@tau-agent/system";

const form = /^process (\d+) on (.+?)(?: since (.+))?$/s;

/** This process as the owner of a lease: while it lives, no other process on this machine gets the lease. */
export function processOwner(): string {
  const { pid, start } = ownIdentity();
  const since = start === undefined ? "" : ` since ${start}`;
  return `process ${pid} on ${hostname()}${since}`;
}

export function isLivingOwner(owner: string | undefined): boolean {
  const [, pid, host, start] = form.exec(owner ?? "") ?? [];
  return pid !== undefined && host === hostname() && isAlive({ pid: Number(pid), start });
}
