import nodePath, { type PlatformPath, posix, win32 } from "node:path";
import type { Workspace, WorkspaceEntry, WorkspaceStat } from "@tau-agent/rpc-protocol/workspace";
import { isOutOfReach, LocalFiles, type WorkspaceFiles } from "@tau-agent/system";

/** The files of one machine. The same path may exist on several. */
export interface Disk {
  /** Of its workspace; `local` is the host's machine. */
  readonly id: string;
  readonly files: WorkspaceFiles;
  /** The path arithmetic of its platform. */
  readonly path: PlatformPath;
  readonly homeDirectory: string;
  /** Every call is a round trip, so what may be needed is asked for at once. */
  readonly isFar: boolean;
}

/** What is at a path; asked already, or answered while the file is read. */
export type FoundFile = WorkspaceStat | undefined | Promise<WorkspaceStat | undefined>;

/** The disk of this machine, with the user's own files. */
export function hostDisk(homeDirectory: string): Disk {
  const files = hostFiles(new LocalFiles());
  return { id: "local", files, path: nodePath, homeDirectory, isFar: false };
}

/** Embedders may name folders relative to the process, which a workspace does not take. */
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
 * What is at a path; undefined also for what cannot be looked at.
 *
 * @throws {WorkspaceError} when the disk cannot be reached, as all that reads here
 */
export function lookAt(
  { files }: Disk,
  path: string,
  options: Parameters<WorkspaceFiles["stat"]>[1] = {},
): Promise<WorkspaceStat | undefined> {
  return unlessDenied(files.stat(path, options), undefined);
}

/** The path with links followed; the path itself when that fails. */
export async function realPathOf(disk: Disk, path: string): Promise<string> {
  return (await lookAt(disk, path))?.realPath ?? path;
}

/** What is at `path`; links are followed. */
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

/** The entries of a folder by name; none for what cannot be read. */
export async function entriesOf(
  disk: Disk,
  folder: string,
  options: Parameters<WorkspaceFiles["list"]>[1] = {},
): Promise<WorkspaceEntry[]> {
  // An error costs more than a look, but for a disk that is far away.
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
 * Prepares a question about each item. On this machine each is asked when its turn comes; on a disk that
 * is far away all are asked now, and the answers wait.
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
    // Thrown where its turn comes, if it does.
    asked.catch(() => {});
    return () => asked;
  });
}
