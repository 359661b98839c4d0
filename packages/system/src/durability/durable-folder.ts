import { lstatSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { WorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { makeFolderNow } from "../base/files/make-folder.ts";

/** The path of a session's folder; {@link durableFolder} makes it. */
export function durablePath(temporaryDirectory: string, session: string): string {
  return join(temporaryDirectory, `tau-${userInfo().uid}`, session);
}

/**
 * The folder for everything of a session that outlives its host (decision 63).
 *
 * @throws {WorkspaceError} `not_allowed`: another user made a folder of this name, or can open it
 */
export function durableFolder(temporaryDirectory: string, session: string): string {
  const path = durablePath(temporaryDirectory, session);
  const parent = join(path, "..");
  makeFolderNow(path, 0o700);
  for (const folder of [parent, path]) {
    const found = lstatSync(folder);
    const isOurs = process.getuid === undefined || found.uid === process.getuid();
    if (found.isDirectory() && isOurs && (found.mode & 0o077) === 0) continue;
    const text = `${folder} is not a folder that only this user opens. Remove it.`;
    throw new WorkspaceError("not_allowed", text, { path: folder });
  }
  return path;
}
