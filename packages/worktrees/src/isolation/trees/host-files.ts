import { relative } from "node:path";
import { ToolError } from "@tau-agent/agent";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { FolderDoor, isInside, randomHex } from "@tau-agent/system";

/**
 * Replaces files of a tree that the host reads or runs by those on the caller's disk. Commands in a sandbox cannot
 * change the files on disk, but they can change the index and the objects from which the tree was made.
 *
 * @param places real paths in the caller's folder
 * @throws {ToolError} a parent folder is a link in the tree
 */
export function takeHostFiles(from: string, to: string, places: readonly string[]): void {
  using source = new FolderDoor(from);
  using target = new FolderDoor(to);
  const names = places
    .filter((place) => place !== from && isInside(from, place))
    .map((place) => Buffer.from(relative(from, place)).toString("latin1"))
    // A tree has a separate repository.
    .filter((name) => !name.split("/").includes(".git"));
  try {
    for (const name of names) {
      for (const path of filesBelow(target, name)) take(path, source, target);
    }
  } catch (error) {
    const text = `Isolated tasks cannot be run in ${from}: its copy cannot get the host's files as they are: ${errorMessage(error)}`;
    throw new ToolError(text, undefined, { cause: error });
  }
}

function filesBelow(door: FolderDoor, path: string): string[] {
  const found = door.look(path);
  if (found === undefined) return [];
  if (!found.isDirectory()) return [path];
  return door.list(path).flatMap((name) => filesBelow(door, `${path}/${name}`));
}

function take(path: string, source: FolderDoor, target: FolderDoor): void {
  const [theirs, own] = [contentOf(path, source), contentOf(path, target)];
  const isSame = theirs?.kind === own?.kind && theirs?.bytes.equals(own?.bytes ?? theirs.bytes);
  if (theirs !== undefined && isSame) return;
  target.remove(path);
  const temporaryName = `.tau-${randomHex(6)}`;
  if (theirs?.kind === "link") target.writeLink(path, theirs.bytes, temporaryName);
  else if (theirs !== undefined) target.write(path, theirs.bytes, { ...theirs, temporaryName });
}

function contentOf(path: string, door: FolderDoor) {
  try {
    if (door.look(path)?.isSymbolicLink()) {
      return { kind: "link", mode: 0, bytes: door.readLink(path) } as const;
    }
    const { content, stats } = door.read(path);
    return { kind: "file", mode: stats.mode & 0o777, bytes: content } as const;
  } catch {
    // The file is not on the caller's disk.
    return undefined;
  }
}
