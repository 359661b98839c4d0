import {
  chmodSync,
  closeSync,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { errorCode } from "../../base/files/file-error.ts";
import { type FileState, type FoundFile, hasSameStamp } from "../files/file-state.ts";
import { placeIn } from "../files/walk.ts";
import type { ObjectStore } from "../store/object-store.ts";

/** What to write where. */
export interface WriteRequest {
  /** The real path of the folder. */
  readonly folder: string;
  readonly store: ObjectStore;
  /** Files as they were found; one that looks otherwise now is left as it is. */
  readonly current: ReadonlyMap<string, FoundFile>;
  readonly targets: ReadonlyMap<string, FileState | undefined>;
  /** Paths that an earlier attempt removed, whose folders it may have left. */
  readonly gone?: readonly string[] | undefined;
  /** The name of a new file until it is complete; the same for a repeated attempt. */
  readonly temporaryName: string;
}

/** A path cannot be written; the message says why. */
class Obstacle extends Error {
  override readonly name = "Obstacle";
}

/**
 * Gives paths their target state, each in one step. Returns why for those that stay as they are.
 */
export async function writeFiles(request: WriteRequest): Promise<ReadonlyMap<string, string>> {
  const failures = new Map<string, string>();
  const attempt = (path: string, step: () => void): void => {
    try {
      step();
    } catch (error) {
      failures.set(path, error instanceof Obstacle ? error.message : errorMessage(error));
    }
  };
  const { targets, store } = request;
  const paths = [...targets.keys()].sort();
  const gone = paths.filter((path) => targets.get(path) === undefined);
  // The deepest first, so that a folder is empty when its turn comes.
  for (const path of gone.reverse()) attempt(path, () => remove(path, request));
  removeEmptyFolders([...gone, ...(request.gone ?? [])], request);
  const wanted = new Map<string, string[]>();
  for (const path of paths) {
    const state = targets.get(path);
    if (state === undefined) continue;
    if (state.kind === "folder") attempt(path, () => makeEmptyFolder(path, request));
    else if (isModeOnly(path, state, request)) attempt(path, () => setMode(path, state, request));
    else wanted.set(state.id, [...(wanted.get(state.id) ?? []), path]);
  }
  await store.read(wanted.keys(), (id, content) => {
    for (const path of wanted.get(id) ?? []) {
      attempt(path, () => write(path, content, request));
    }
  });
  return failures;
}

function isModeOnly(path: string, state: FileState, { current }: WriteRequest): boolean {
  const now = current.get(path);
  return now?.kind === "file" && state.kind === "file" && now.id === state.id;
}

function remove(path: string, request: WriteRequest): void {
  checkParents(path, request);
  const now = request.current.get(path);
  if (now?.kind === "folder") {
    rmdirSync(placeIn(request.folder, path));
    return;
  }
  checkUnchanged(path, request);
  unlinkSync(placeIn(request.folder, path));
}

/** Folders that became empty, unless something will be in them. */
function removeEmptyFolders(gone: readonly string[], { folder, targets }: WriteRequest): void {
  const needed = new Set<string>();
  for (const [path, state] of targets) {
    if (state === undefined) continue;
    if (state.kind === "folder") needed.add(path);
    for (const above of foldersAbove(path)) needed.add(above);
  }
  const empty = new Set(gone.flatMap(foldersAbove));
  for (const path of [...empty].sort().reverse()) {
    if (needed.has(path)) continue;
    try {
      rmdirSync(placeIn(folder, path));
    } catch {
      // Not empty.
    }
  }
}

function makeEmptyFolder(path: string, request: WriteRequest): void {
  const now = request.current.get(path);
  if (now !== undefined && now.kind !== "folder") remove(path, request);
  makeFolders(path, request);
}

function setMode(path: string, { mode }: FileState, request: WriteRequest): void {
  checkParents(path, request);
  checkUnchanged(path, request);
  chmodSync(placeIn(request.folder, path), mode);
}

function write(path: string, content: Buffer | undefined, request: WriteRequest): void {
  const { folder, targets, current, temporaryName } = request;
  const state = targets.get(path);
  if (state === undefined) return;
  if (content === undefined) throw new Obstacle("its content is no longer stored");
  const parent = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  if (parent !== "") makeFolders(parent, request);
  checkParents(path, request);
  const place = placeIn(folder, path);
  const now = current.get(path);
  if (now === undefined || now.kind === "folder") clearPlace(place);
  else checkUnchanged(path, request);
  const temporary = placeIn(folder, parent === "" ? temporaryName : `${parent}/${temporaryName}`);
  rmSync(temporary, { force: true });
  try {
    if (state.kind === "link") symlinkSync(content, temporary);
    else writeNew(temporary, content, state.mode);
    renameSync(temporary, place);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function writeNew(path: Buffer, content: Buffer, mode: number): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeFileSync(file, content);
    fchmodSync(file, mode);
  } finally {
    closeSync(file);
  }
}

/** An empty folder makes room; anything else was put there meanwhile. */
function clearPlace(place: Buffer): void {
  try {
    rmdirSync(place);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return;
    throw new Obstacle("something else is in its place");
  }
}

function checkUnchanged(path: string, { folder, current }: WriteRequest): void {
  const before = current.get(path)?.stamp;
  const now = lstatSync(placeIn(folder, path), { throwIfNoEntry: false });
  if (before === undefined || now === undefined || !hasSameStamp(before, now)) {
    throw new Obstacle("it was changed just now");
  }
}

function makeFolders(path: string, { folder }: WriteRequest): void {
  for (const name of [...foldersAbove(path).reverse(), path]) {
    const place = placeIn(folder, name);
    const found = lstatSync(place, { throwIfNoEntry: false });
    if (found === undefined) mkdirSync(place);
    else if (found.isSymbolicLink()) throw new Obstacle("a folder above it is a symbolic link");
    else if (!found.isDirectory()) throw new Obstacle("a folder above it is a file now");
  }
}

/** Links above a path could lead anywhere: none is followed, also one that has just been put there. */
function checkParents(path: string, { folder }: WriteRequest): void {
  for (const above of foldersAbove(path)) {
    const found = lstatSync(placeIn(folder, above), { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) throw new Obstacle("a folder above it is a symbolic link");
    if (found !== undefined && !found.isDirectory()) {
      throw new Obstacle("a folder above it is a file now");
    }
  }
  const [parent = ""] = foldersAbove(path);
  const real = realpathSync(placeIn(folder, parent), { encoding: "buffer" });
  const isInside = real.equals(placeIn(folder, parent));
  if (!isInside) throw new Obstacle("the folder above it is elsewhere");
}

/** The folders a path is in, the deepest first. */
function foldersAbove(path: string): string[] {
  const folders: string[] = [];
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
    folders.push(path.slice(0, end));
  }
  return folders;
}
