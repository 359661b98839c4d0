import { statSync } from "node:fs";
import { remedyOfLimit } from "@tau-agent/rpc-protocol";
import type { HostExit } from "../base/errors.ts";

/** The text that tells a user how a host ended, or why it never ran. */
export function describeExit(
  exit: Partial<HostExit> & { readonly error?: unknown },
  cwd: string | undefined,
): string {
  const { error } = exit;
  if (error === undefined) {
    const how = exit.signal ? `on ${exit.signal}` : `with exit code ${exit.exitCode ?? "unknown"}`;
    return `The host ended ${how}`;
  }
  // If the folder is missing, the system's error wrongly names the program.
  const fault = cwd === undefined ? undefined : faultOf(cwd);
  if (fault !== undefined) {
    return `The host could not be started: its working directory ${cwd} ${fault}`;
  }
  const reason = error instanceof Error ? error.message : String(error);
  const remedy = remedyOfLimit(error);
  if (remedy !== undefined) return `The host could not be started (${reason}). ${remedy}.`;
  return `The host could not be started (${reason}). Install @tau-agent/cli, or set "command" or "cliPath".`;
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
