import { ProtocolError, type WorkspaceChoice } from "@tau-agent/rpc-protocol";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";

/**
 * The value of `--workspace`: a name, or what looks like JSON. The session that opens it checks its
 * members.
 *
 * @throws {ProtocolError} `invalid_option` for JSON that does not parse
 */
export function readWorkspace(value: string | undefined): WorkspaceChoice | undefined {
  if (value?.trimStart().startsWith("{") !== true) return value;
  try {
    return JSON.parse(value) as WorkspaceChoice;
  } catch (error) {
    const reason = `it is no JSON: ${errorMessage(error)}`;
    throw new ProtocolError("invalid_option", { option: "--workspace", reason });
  }
}
