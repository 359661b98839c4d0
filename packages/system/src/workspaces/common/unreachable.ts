import { errorMessage, ProtocolError } from "@tau-agent/rpc-protocol/plain";
import type { WorkspaceSpec } from "./workspace-spec.ts";

const maxNameLength = 200;

/** The error for a workspace that cannot be reached, with the last output of its program. */
export function unreachable(spec: WorkspaceSpec, why: unknown, lastLine?: string): ProtocolError {
  const words = "command" in spec ? spec.command : "shell" in spec ? spec.shell : ["of the client"];
  const workspace = spec.id ?? words.join(" ").replace(/\s+/g, " ").slice(0, maxNameLength);
  const reason = typeof why === "string" ? why : errorMessage(why);
  const said = lastLine === undefined ? "" : `; it said: ${lastLine}`;
  const options = why instanceof Error ? { cause: why } : undefined;
  return new ProtocolError("workspace_unreachable", { workspace, reason: reason + said }, options);
}
