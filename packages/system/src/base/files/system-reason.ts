import { errorMessage, remedyOfLimit } from "@tau-agent/rpc-protocol/plain";

/** The codes that the system's own words do not explain well enough. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied; check the permissions of the file and its folders",
  EPERM: "operation not permitted; check the permissions of the file and its folders",
  EROFS: "the file system is read-only",
  EISDIR: "it is a folder, not a file",
  ENOTDIR: "a part of the path is a file, not a folder",
};

/** Reasons that depend on the failed call: a folder cannot be made where a file is. */
const inTheWay: Readonly<Record<string, string>> = {
  EEXIST: "a part of the path is a file, not a folder",
};

/**
 * Why the system refused a file operation, for a sentence that names the path itself; Node's message would repeat it.
 */
export function systemReason(error: unknown): string {
  const message = errorMessage(error);
  if (remedyOfLimit(error) !== undefined) return message;
  const [, code = "", text = ""] = /^([A-Z][A-Z\d]+): (.*), [a-z]+(?: '.*')?$/s.exec(message) ?? [];
  if (code === "") return message;
  const isOfFolder = (error as { readonly syscall?: unknown }).syscall === "mkdir";
  const own = (isOfFolder ? inTheWay[code] : undefined) ?? reasons[code];
  return `${own ?? text} (${code})`;
}
