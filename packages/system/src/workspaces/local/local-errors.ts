import { isAbsolute } from "node:path";
import { errorMessage, remedyOfLimit } from "@tau-agent/rpc-protocol/plain";
import {
  WorkspaceError,
  type WorkspaceErrorCode,
  workspaceErrorTexts,
} from "@tau-agent/rpc-protocol/workspace";
import { errorCode } from "../../base/files/error-code.ts";
import { ProcessError } from "../../processes/process-error.ts";

const codes: Readonly<Record<string, WorkspaceErrorCode>> = {
  ENOENT: "not_found",
  EEXIST: "exists",
  ENOTDIR: "not_a_directory",
  EISDIR: "is_a_directory",
  ENOTEMPTY: "not_empty",
  EACCES: "not_allowed",
  EPERM: "not_allowed",
  EROFS: "not_allowed",
  EFBIG: "too_large",
  ERR_FS_FILE_TOO_LARGE: "too_large",
  ENOSPC: "no_space",
  EDQUOT: "no_space",
  ABORT_ERR: "aborted",
};

/** The largest file that can be read or written. */
export const maxFileBytes = 2 * 1024 ** 3;

/** The workspace error for a system error; its message ends with the system's code in brackets. */
export function workspaceError(error: unknown, path?: string): WorkspaceError {
  if (error instanceof WorkspaceError) return error;
  if (error instanceof ProcessError) return processError(error, path);
  if (error instanceof Error && error.name === "AbortError") return aborted(error);
  const code = errorCode(error);
  const own = (code !== undefined && codes[code]) || "failed";
  return new WorkspaceError(own, textOf(error, code, own), { path, cause: error });
}

/** The error for an aborted call. */
export function aborted(cause: unknown): WorkspaceError {
  return new WorkspaceError("aborted", undefined, { cause });
}

/** @throws {WorkspaceError} the call was aborted */
export function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw aborted(signal.reason);
}

/** @throws {WorkspaceError} the path is relative, or no file can have it */
function refuseRelative(path: string): void {
  if (typeof path === "string" && isAbsolute(path) && !path.includes("\0")) return;
  throw new WorkspaceError("failed", "The path must be absolute", { path: String(path) });
}

/** Runs a call; anything it throws becomes a {@link WorkspaceError} about the path. */
export async function callOn<Value>(
  path: string,
  signal: AbortSignal | undefined,
  work: () => Value | Promise<Value>,
): Promise<Value> {
  try {
    refuseRelative(path);
    refuseAborted(signal);
    return await work();
  } catch (error) {
    throw signal?.aborted && !(error instanceof WorkspaceError)
      ? aborted(error)
      : workspaceError(error, path);
  }
}

function textOf(error: unknown, code: string | undefined, own: WorkspaceErrorCode): string {
  if (code === undefined) return errorMessage(error);
  const remedy = remedyOfLimit(error);
  if (remedy !== undefined) return `${remedy} (${code})`;
  if (!/^E[A-Z\d]+$/.test(code))
    return own === "failed" ? errorMessage(error) : workspaceErrorTexts[own];
  const [, words] = /^[A-Z][A-Z\d]+: (.*), [a-z]+(?: '.*')?$/s.exec(errorMessage(error)) ?? [];
  return `${words ?? workspaceErrorTexts[own]} (${code})`;
}

function processError(error: ProcessError, path: string | undefined): WorkspaceError {
  const isMissing = error.code === "cwd_missing" || error.code === "not_found";
  const isUnenclosed = error.code === "sandbox_unavailable";
  const code = isUnenclosed ? error.code : isMissing ? "not_found" : "failed";
  return new WorkspaceError(code, error.message, { path, cause: error });
}
