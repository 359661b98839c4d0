import { ProtocolError, type WorkspaceChoice } from "@tau-agent/rpc-protocol";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";

/**
 * The value of `--workspace`: a name, or what looks like JSON. The session that opens it checks its
 * members.
 *
 * @throws {ProtocolError} `invalid_option` for JSON that does not parse, and for an id
 */
export function readWorkspace(value: string | undefined): WorkspaceChoice | undefined {
  if (value?.trimStart().startsWith("{") !== true) return value;
  const spec = parse(value);
  if (Object.hasOwn(Object(spec), "id")) refuse("only the settings give a workspace an id");
  return spec as WorkspaceChoice;
}

function parse(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch (error) {
    return refuse(`it is no JSON: ${errorMessage(error)}`);
  }
}

function refuse(reason: string): never {
  throw new ProtocolError("invalid_option", { option: "--workspace", reason });
}
