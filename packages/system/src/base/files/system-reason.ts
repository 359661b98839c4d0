import { errorMessage, remedyOfLimit } from "@tau-agent/rpc-protocol/plain";

/** The codes for which the system's own words do not say enough. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied; check the permissions of the file and its folders",
  EPERM: "operation not permitted; check the permissions of the file and its folders",
  EROFS: "the file system is read-only",
  EISDIR: "it is a folder, not a file",
  ENOTDIR: "a part of the path is a file, not a folder",
};

/** What only the call that failed tells: a folder cannot be made where a file is. */
const inTheWay: Readonly<Record<string, string>> = {
  EEXIST: "a part of the path is a file, not a folder",
};

/**
 * Why the system refused something with a file, for a sentence that names the path itself: Node's message
 * repeats it.
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
