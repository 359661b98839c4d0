import { errorMessage, ProtocolError } from "@tau-agent/rpc-protocol/plain";
import type { ClientSpec, WorkspaceSpec } from "./workspace-spec.ts";

const maxNameLength = 200;

/** The error of a place that cannot be reached, with what its program said last. */
export function unreachable(
  spec: Exclude<WorkspaceSpec, ClientSpec>,
  why: unknown,
  lastLine?: string,
): ProtocolError {
  const words = "command" in spec ? spec.command : spec.shell;
  const workspace = spec.id ?? words.join(" ").replace(/\s+/g, " ").slice(0, maxNameLength);
  const reason = typeof why === "string" ? why : errorMessage(why);
  const said = lastLine === undefined ? "" : `; it said: ${lastLine}`;
  const options = why instanceof Error ? { cause: why } : undefined;
  return new ProtocolError("workspace_unreachable", { workspace, reason: reason + said }, options);
}
