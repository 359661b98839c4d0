import type { WorkspaceChoice } from "@tau-agent/rpc-protocol";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import type { CliOptions } from "../command-line/cli-options.ts";
import { refuse } from "../command-line/values.ts";

/**
 * The value of `--workspace`: a name, or JSON. The session that opens the workspace checks its members. The
 * host of a subagent receives the id of its caller's workspace.
 *
 * @throws {ProtocolError} `invalid_option` for JSON that does not parse, and for an id
 */
export function readWorkspace({
  workspace: value,
  taskDepth,
}: Pick<CliOptions, "workspace" | "taskDepth">): WorkspaceChoice | undefined {
  if (value?.trimStart().startsWith("{") !== true) return value;
  const spec = parse(value);
  const isCallers = taskDepth !== undefined;
  if (Object.hasOwn(Object(spec), "id") && !isCallers) {
    refuse("--workspace", "only the settings give a workspace an id");
  }
  return spec as WorkspaceChoice;
}

function parse(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch (error) {
    return refuse("--workspace", `it is no JSON: ${errorMessage(error)}`);
  }
}
