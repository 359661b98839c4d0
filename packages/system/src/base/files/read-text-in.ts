import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import {
  isWorkspaceError,
  type Workspace,
  type WorkspaceReach,
} from "@tau-agent/rpc-protocol/workspace";
import { errorCode } from "./error-code.ts";
import { largerThan, MAX_TEXT_BYTES, type TextFile, textFile, unreadable } from "./read-text.ts";
import { systemReason } from "./system-reason.ts";

/** The part of a project's workspace that readers need. */
export type WorkspaceFiles = Pick<Workspace, "stat" | "list" | "read">;

/** Whether nothing is known about a file because its workspace does not answer. */
export function isOutOfReach(error: unknown): boolean {
  return isWorkspaceError(error, "lost", "aborted", "stale_epoch");
}

/** Why a workspace refused something, for a sentence that names the path itself. */
function workspaceReason(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return errorCode(cause) === undefined ? errorMessage(error) : systemReason(cause);
}

/**
 * Reads a file of a workspace as UTF-8 without a byte order mark, in one call if it is readable.
 *
 * @throws {WorkspaceError} when the workspace cannot be reached, so that the content of the file is unknown
 */
export async function readTextIn(
  files: Pick<WorkspaceFiles, "stat" | "read">,
  path: string,
  {
    maxBytes = MAX_TEXT_BYTES,
    within,
  }: { readonly maxBytes?: number | undefined; readonly within?: WorkspaceReach | undefined } = {},
): Promise<TextFile> {
  try {
    const bytes = await files.read(path, { length: maxBytes + 1, within });
    if (bytes.length > maxBytes) return unreadable(path, largerThan(maxBytes));
    const { buffer, byteOffset, byteLength } = bytes;
    return textFile(path, Buffer.from(buffer, byteOffset, byteLength).toString("utf8"));
  } catch (error) {
    if (isOutOfReach(error)) throw error;
    if (isWorkspaceError(error, "not_found", "not_a_directory")) return { kind: "missing", path };
    if (isWorkspaceError(error, "is_a_directory")) return unreadable(path, "it is a folder");
    const found = await files.stat(path).catch(() => undefined);
    const isSpecial = found?.kind === "other";
    return unreadable(path, isSpecial ? "it is not a regular file" : workspaceReason(error));
  }
}
