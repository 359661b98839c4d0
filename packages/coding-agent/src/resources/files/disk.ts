import nodePath, { type PlatformPath, posix, win32 } from "node:path";
import type { Workspace, WorkspaceEntry, WorkspaceStat } from "@tau-agent/rpc-protocol/workspace";
import { isOutOfReach, LocalFiles, type WorkspaceFiles } from "@tau-agent/system";

/** The files of one machine. The same path may exist on several machines. */
export interface Disk {
  /** The id of its workspace; `local` is the host's machine. */
  readonly id: string;
  readonly files: WorkspaceFiles;
  /** The path functions of its platform. */
  readonly path: PlatformPath;
  readonly homeDirectory: string;
  /** Whether every call is a round trip, so that files that may be needed should be requested in parallel. */
  readonly isFar: boolean;
}

/** The state of a path, or a promise of it while the file is being read. */
export type FoundFile = WorkspaceStat | undefined | Promise<WorkspaceStat | undefined>;

/** The disk of this machine, with the user's own files. */
export function hostDisk(homeDirectory: string): Disk {
  const files = hostFiles(new LocalFiles());
  return { id: "local", files, path: nodePath, homeDirectory, isFar: false };
}

/** Embedders may name folders relative to the process, which a workspace does not accept. */
function hostFiles(machine: LocalFiles): WorkspaceFiles {
  const absolute = (path: string) => (nodePath.isAbsolute(path) ? path : nodePath.resolve(path));
  return {
    stat: (path, options) => machine.stat(absolute(path), options),
    list: (path, options) => machine.list(absolute(path), options),
    read: (path, options) => machine.read(absolute(path), options),
  };
}

/** The disk of a workspace; undefined for this machine. */
export async function diskOf(workspace: Workspace): Promise<Disk | undefined> {
  if (workspace.id === "local") return undefined;
  const { platform, homeDirectory } = await workspace.describe();
  const path = platform === "win32" ? win32 : posix;
  return { id: workspace.id, files: workspace, path, homeDirectory, isFar: true };
}

/**
 * The state of a path; undefined if it is missing or inaccessible.
 *
 * @throws {WorkspaceError} if the disk cannot be reached, like all functions here that read
 */
export function lookAt(
  { files }: Disk,
  path: string,
  options: Parameters<WorkspaceFiles["stat"]>[1] = {},
): Promise<WorkspaceStat | undefined> {
  return unlessDenied(files.stat(path, options), undefined);
}

/** The path with links resolved; the path itself if that fails. */
export async function realPathOf(disk: Disk, path: string): Promise<string> {
  return (await lookAt(disk, path))?.realPath ?? path;
}

/** The kind of file at `path`, following links. */
export async function kindOf(
  disk: Disk,
  path: string,
): Promise<"file" | "directory" | "other" | "missing"> {
  return kindOfStat(await lookAt(disk, path));
}

export function kindOfStat(
  found: WorkspaceStat | undefined,
): "file" | "directory" | "other" | "missing" {
  if (found === undefined) return "missing";
  return found.kind === "symlink" ? "other" : found.kind;
}

/** The entries of a folder by name; none if it cannot be read. */
export async function entriesOf(
  disk: Disk,
  folder: string,
  options: Parameters<WorkspaceFiles["list"]>[1] = {},
): Promise<WorkspaceEntry[]> {
  // A failed read costs more than this check, except on a remote disk.
  if (!disk.isFar && (await lookAt(disk, folder)) === undefined) return [];
  const found = await unlessDenied(disk.files.list(folder, options), []);
  return [...found].sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function unlessDenied<Value, Other>(
  asked: Promise<Value>,
  other: Other,
): Promise<Value | Other> {
  try {
    return await asked;
  } catch (error) {
    if (isOutOfReach(error)) throw error;
    return other;
  }
}

/**
 * Prepares a query for each item. On this machine, each runs when it is called; on a remote disk, all start now, and
 * the results wait.
 */
export function askEach<Item, Answer>(
  items: readonly Item[],
  diskOfItem: Disk | ((item: Item) => Disk),
  ask: (item: Item) => Promise<Answer>,
): (() => Promise<Answer>)[] {
  return items.map((item) => {
    const { isFar } = typeof diskOfItem === "function" ? diskOfItem(item) : diskOfItem;
    if (!isFar) return () => ask(item);
    const asked = ask(item);
    // Rejections are thrown when the result is awaited, if it is.
    asked.catch(() => {});
    return () => asked;
  });
}
