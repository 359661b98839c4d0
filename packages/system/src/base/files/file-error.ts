import { ToolError } from "@tau-agent/agent";
import { remedyOfLimit } from "@tau-agent/rpc-protocol/plain";
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

/** Describes in one sentence what failed at `path` and what to do; other errors pass. */
export function fileError(error: unknown, action: string, path: string): unknown {
  if (error instanceof ToolError) return error;
  const code = errorCode(error);
  if (code === undefined) return error;
  const remedy = remedyOfLimit(error);
  const other = `Cannot ${action} ${path}: ${remedy ?? code}.`;
  const text = reasons[code]?.(path, action) ?? other;
  return new ToolError(text, undefined, { cause: error });
}
