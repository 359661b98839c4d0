import { statSync } from "node:fs";
import type { HostExit } from "./errors.ts";

/** Explains to a user why a host has ended or could not start. */
export function describeExit(
  exit: Partial<HostExit> & { readonly error?: unknown },
  cwd: string | undefined,
): string {
  const { error } = exit;
  if (error === undefined) {
    const how = exit.signal ? `on ${exit.signal}` : `with exit code ${exit.exitCode ?? "unknown"}`;
    return `The host ended ${how}`;
  }
  // The system's error names the program in this case, too.
  const fault = cwd === undefined ? undefined : faultOf(cwd);
  if (fault !== undefined) {
    return `The host could not be started: its working directory ${cwd} ${fault}`;
  }
  const reason = error instanceof Error ? error.message : String(error);
  return `The host could not be started (${reason}). Install @tau-agent/cli, or say with "command" or "cliPath" what starts it.`;
}

function faultOf(cwd: string): string | undefined {
  try {
    const place = statSync(cwd, { throwIfNoEntry: false });
    if (place === undefined) return "does not exist";
    return place.isDirectory() ? undefined : "is not a directory";
  } catch {
    return "cannot be read";
  }
}
