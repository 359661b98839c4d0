import { ToolError } from "@tau-agent/agent";
import { remedyOfLimit } from "@tau-agent/rpc-protocol/plain";
import {
  isWorkspaceError,
  type WorkspaceError,
  type WorkspaceErrorCode,
} from "@tau-agent/rpc-protocol/workspace";
import { errorCode } from "./error-code.ts";

const reasons: Readonly<Record<string, (path: string, action: string) => string>> = {
  ENOENT: (path) => `File not found: ${path}. Check the path with ls or find.`,
  ENOTDIR: (path) => `A part of the path ${path} is a file, not a directory. Check the path.`,
  EISDIR: (path) => `${path} is a directory, not a file. Use ls to list it.`,
  EACCES: (path, action) =>
    `Permission denied: cannot ${action} ${path}. Change its permissions or choose another path.`,
  EPERM: (path, action) =>
    `Operation not permitted: cannot ${action} ${path}. Change its permissions or choose another path.`,
  EROFS: (path, action) =>
    `Cannot ${action} ${path}: the file system is read-only. Choose another path.`,
  ENOSPC: (path, action) =>
    `No space left on the device: cannot ${action} ${path}. Free some space and try again.`,
  EDQUOT: (path, action) =>
    `Disk quota exceeded: cannot ${action} ${path}. Free some space and try again.`,
  ELOOP: (path) => `Too many symbolic links in ${path}. Use the path of the file itself.`,
  ENAMETOOLONG: (path) => `The path is too long: ${path}. Use a shorter one.`,
  EAGAIN: (path) => `${path} has nothing more to read now. Use bash with a timeout to follow it.`,
};

/** The system's codes with the same meaning as those of a workspace. */
const systemCodes: Partial<Record<WorkspaceErrorCode, string>> = {
  not_found: "ENOENT",
  exists: "EEXIST",
  not_a_directory: "ENOTDIR",
  is_a_directory: "EISDIR",
  not_empty: "ENOTEMPTY",
  no_space: "ENOSPC",
};

/** The system's code at the end of a workspace error; machines like this one put it there. */
export function systemCodeOf({ message }: WorkspaceError): string | undefined {
  return /\((E[A-Z\d]+)\)$/.exec(message)?.[1];
}

/** Why a workspace is lost, in words that clients look for; an embedder's own text may lack them. */
export function lostText({ message }: WorkspaceError): string {
  return message.includes("workspace lost") ? message : `workspace lost: ${message}`;
}

/** Describes in one sentence what failed at `path` and what to do; unknown errors are returned unchanged. */
export function fileError(error: unknown, action: string, path: string): unknown {
  if (error instanceof ToolError) return error;
  if (isWorkspaceError(error)) return workspaceProblem(error, action, path);
  const code = errorCode(error);
  if (code === undefined) return error;
  const remedy = remedyOfLimit(error);
  const other = `Cannot ${action} ${path}: ${remedy ?? code}.`;
  const text = reasons[code]?.(path, action) ?? other;
  return new ToolError(text, undefined, { cause: error });
}

function workspaceProblem(error: WorkspaceError, action: string, path: string): unknown {
  const { code, message } = error;
  if (code === "aborted") return error;
  const options = { cause: error };
  if (code === "lost") {
    return new ToolError(`Cannot ${action} ${path}: ${lostText(error)}`, undefined, options);
  }
  // The message already names the path and the reason.
  if (error.path !== undefined && message.includes(error.path)) {
    return new ToolError(message, undefined, options);
  }
  const system = systemCodeOf(error) ?? systemCodes[code];
  const known = system === undefined ? undefined : reasons[system]?.(path, action);
  const reason = remedyOfLimit(error) ?? system ?? message.replace(/\.$/, "");
  return new ToolError(known ?? `Cannot ${action} ${path}: ${reason}.`, undefined, options);
}
