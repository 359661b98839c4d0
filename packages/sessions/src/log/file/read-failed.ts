import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { errorCode, systemReason } from "@tau-agent/system";

/** The error for a session file that could not be read. Only a folder is reported as not being a session. */
export function readFailed(path: string, cause: unknown): SessionError {
  if (cause instanceof SessionError) return cause;
  const code = errorCode(cause) === "EISDIR" ? "session_invalid" : "session_unreadable";
  return new SessionError(code, { path, reason: systemReason(cause) }, { cause });
}
