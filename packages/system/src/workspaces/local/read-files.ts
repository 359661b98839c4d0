import {
  type BigIntStats,
  type Dirent,
  lstatSync,
  opendirSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { type FileHandle, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  type WorkspaceEntry,
  WorkspaceError,
  type WorkspaceFileKind,
  type WorkspaceReadOptions,
  type WorkspaceStat,
  type WorkspaceStatOptions,
} from "@tau-agent/rpc-protocol/workspace";
import { attempt } from "../../base/attempt.ts";
import { errorCode } from "../../base/files/error-code.ts";
import { openRegularFile } from "../../base/files/open-regular-file.ts";
import { readSmallFile } from "../../base/files/read-small-file.ts";
import { HeldFolder } from "./held-folder.ts";
import { maxFileBytes, refuseAborted } from "./local-errors.ts";
import type { Reach } from "./reach.ts";

const chunkBytes = 1024 * 1024;
const maxSmallEntries = 256;
/** Codes that mean that nothing is at a path. */
const missing: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

/** What a path leads to. Synchronous: a round trip to a thread takes longer than the call itself. */
export function statPath(
  path: string,
  { followLinks = true }: WorkspaceStatOptions,
  reach: Reach,
): WorkspaceStat | undefined {
  const found = lookAt(path, followLinks);
  if (found === undefined) return undefined;
  const realPath = attempt(() =>
    followLinks
      ? realpathSync.native(path)
      : join(realpathSync.native(dirname(path)), basename(path)),
  );
  // It may be gone by now.
  if (realPath === undefined) return undefined;
  if (reach.isLimited) reach.checkReal(realPath);
  return {
    kind: kindOf(found),
    size: found.size,
    mode: found.mode & 0o7777,
    modifiedAt: found.mtimeMs,
    realPath,
  };
}

function lookAt(path: string, followLinks: boolean): Stats | undefined {
  try {
    const look = followLinks ? statSync : lstatSync;
    return look(path, { throwIfNoEntry: false });
  } catch (error) {
    if (missing.has(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}

/** The entries of a folder. */
export async function listFolder(path: string, reach: Reach): Promise<readonly WorkspaceEntry[]> {
  if (!reach.isLimited) return entriesOf(path);
  const held = await HeldFolder.open(path);
  try {
    reach.checkOpened(held.descriptor, path);
    return await entriesOf(held.place);
  } finally {
    await held.close();
  }
}

async function entriesOf(folder: string): Promise<readonly WorkspaceEntry[]> {
  return readSmallFolder(folder)?.map(entryOf) ?? (await listInThread(folder));
}

/** Leaves this thread free for the entries of another folder meanwhile (row `find`). */
export async function listInThread(folder: string): Promise<readonly WorkspaceEntry[]> {
  return (await readdir(folder, { withFileTypes: true })).map(entryOf);
}

function entryOf(entry: Dirent): WorkspaceEntry {
  return { name: entry.name, kind: kindOf(entry) };
}

/** Synchronous, as for small files; undefined for a folder so large that it would block everything else. */
function readSmallFolder(folder: string): readonly Dirent[] | undefined {
  const entries: Dirent[] = [];
  const open = opendirSync(folder, { bufferSize: maxSmallEntries + 1 });
  try {
    for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
      if (entries.length === maxSmallEntries) return undefined;
      entries.push(entry);
    }
    return entries;
  } finally {
    open.closeSync();
  }
}

function kindOf(found: Stats | Dirent): WorkspaceFileKind {
  if (found.isFile()) return "file";
  if (found.isDirectory()) return "directory";
  return found.isSymbolicLink() ? "symlink" : "other";
}

/**
 * The bytes of a regular file.
 *
 * @throws {WorkspaceError} it is not a regular file, or too large
 */
export async function readPath(
  path: string,
  { offset = 0, length, signal }: WorkspaceReadOptions,
  reach: Reach,
): Promise<Uint8Array> {
  refuseOddRange(path, offset, length);
  const check = (descriptor: number, found?: BigIntStats) =>
    reach.checkOpened(descriptor, path, found);
  const small = readSmallFile(path, check);
  if (small !== undefined) return small.subarray(offset, offset + (length ?? small.length));
  // Opening a pipe or a device may have side effects, and a folder reports its own error.
  const kind = kindOf(statSync(path));
  if (kind === "directory") throw new WorkspaceError("is_a_directory", undefined, { path });
  const file = kind === "file" ? await openRegularFile(path, check) : undefined;
  if (file === undefined) throw new WorkspaceError("failed", "Not a regular file", { path });
  try {
    const { size } = await file.stat();
    // A kernel file has no size and is read to its end.
    const left = size === 0 ? maxFileBytes : Math.max(0, size - offset);
    const most = Math.min(length ?? left, left);
    if (most > maxFileBytes) throw new WorkspaceError("too_large", undefined, { path });
    return await readRange(file, { offset, most, isKnown: size > 0, signal });
  } finally {
    await file.close();
  }
}

function refuseOddRange(path: string, offset: number, length: number | undefined): void {
  const isCount = (value: number) => Number.isInteger(value) && value >= 0;
  if (isCount(offset) && (length === undefined || isCount(length))) return;
  throw new WorkspaceError("failed", "offset and length must be whole numbers from 0", { path });
}

interface FileRange {
  readonly offset: number;
  readonly most: number;
  /** Whether the size is known to be exact. */
  readonly isKnown: boolean;
  readonly signal: AbortSignal | undefined;
}

async function readRange(file: FileHandle, range: FileRange): Promise<Uint8Array> {
  const { offset, most, isKnown, signal } = range;
  let bytes = Buffer.allocUnsafe(isKnown ? most : Math.min(most, chunkBytes));
  let length = 0;
  while (length < most) {
    refuseAborted(signal);
    if (length === bytes.length) bytes = Buffer.concat([bytes], Math.min(most, 2 * length));
    const wanted = Math.min(chunkBytes, bytes.length - length);
    const { bytesRead } = await file.read(bytes, length, wanted, offset + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}
