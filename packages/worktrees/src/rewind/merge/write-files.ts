import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { DoorError, errorCode, FolderDoor } from "@tau-agent/system";
import { foldersAbove } from "../../git/file-names.ts";
import { type FileState, type FoundFile, hasSameStamp } from "../files/file-state.ts";
import type { ObjectStore } from "../store/object-store.ts";

export interface WriteRequest {
  /** The real path of the folder. */
  readonly folder: string;
  readonly store: ObjectStore;
  /** Files as they were found; a file that has changed since is left alone. */
  readonly current: ReadonlyMap<string, FoundFile>;
  readonly targets: ReadonlyMap<string, FileState | undefined>;
  readonly refusalOf: (path: string) => string | undefined;
  /** Paths that an earlier attempt removed, perhaps leaving their folders behind. */
  readonly gone?: readonly string[] | undefined;
  /** The temporary name of a new file until it is complete; the same for a repeated attempt. */
  readonly temporaryName: string;
}

interface Writing extends WriteRequest {
  readonly door: FolderDoor;
}

/** Changes paths to their target states, each in one step. Returns the reasons for paths that were left alone. */
export async function writeFiles(request: WriteRequest): Promise<ReadonlyMap<string, string>> {
  using door = new FolderDoor(request.folder);
  const writing: Writing = { ...request, door };
  const failures = new Map<string, string>();
  const attempt = (path: string, step: () => void): void => {
    try {
      const refusal = request.refusalOf(path);
      if (refusal !== undefined) throw new DoorError(refusal);
      step();
    } catch (error) {
      failures.set(path, errorMessage(error));
    }
  };
  const { targets, store } = request;
  const paths = [...targets.keys()].sort();
  const gone = paths.filter((path) => targets.get(path) === undefined);
  // The deepest first, so that a folder is already empty when its turn comes.
  for (const path of gone.reverse()) attempt(path, () => remove(path, writing));
  removeEmptyFolders([...gone, ...(request.gone ?? [])], writing);
  const wanted = new Map<string, string[]>();
  for (const path of paths) {
    const state = targets.get(path);
    if (state === undefined) continue;
    if (state.kind === "folder") attempt(path, () => makeEmptyFolder(path, writing));
    else if (isModeOnly(path, state, writing)) attempt(path, () => setMode(path, state, writing));
    else wanted.set(state.id, [...(wanted.get(state.id) ?? []), path]);
  }
  await store.read(wanted.keys(), (id, content) => {
    for (const path of wanted.get(id) ?? []) {
      attempt(path, () => write(path, content, writing));
    }
  });
  return failures;
}

function isModeOnly(path: string, state: FileState, { current }: WriteRequest): boolean {
  const now = current.get(path);
  return now?.kind === "file" && state.kind === "file" && now.id === state.id;
}

function remove(path: string, writing: Writing): void {
  const { door, current } = writing;
  if (current.get(path)?.kind === "folder") {
    door.removeFolder(path);
    return;
  }
  checkUnchanged(path, writing);
  door.remove(path);
}

/** Removes folders that became empty, unless files will be put there. */
function removeEmptyFolders(gone: readonly string[], { door, targets, refusalOf }: Writing): void {
  const needed = new Set<string>();
  for (const [path, state] of targets) {
    if (state === undefined) continue;
    if (state.kind === "folder") needed.add(path);
    for (const above of foldersAbove(path)) needed.add(above);
  }
  const empty = new Set(gone.flatMap(foldersAbove));
  for (const path of [...empty].sort().reverse()) {
    if (needed.has(path) || refusalOf(path) !== undefined) continue;
    try {
      door.removeFolder(path);
    } catch {
      // The folder is not empty.
    }
  }
}

function makeEmptyFolder(path: string, writing: Writing): void {
  const now = writing.current.get(path);
  if (now !== undefined && now.kind !== "folder") remove(path, writing);
  writing.door.makeFolder(path);
}

function setMode(path: string, { mode }: FileState, writing: Writing): void {
  checkUnchanged(path, writing);
  writing.door.setMode(path, mode);
}

function write(path: string, content: Buffer | undefined, writing: Writing): void {
  const { door, targets, current, temporaryName } = writing;
  const state = targets.get(path);
  if (state === undefined) return;
  if (content === undefined) throw new DoorError("its content is no longer stored");
  const now = current.get(path);
  if (now === undefined || now.kind === "folder") clearPlace(path, door);
  else checkUnchanged(path, writing);
  if (state.kind === "link") door.writeLink(path, content, temporaryName);
  else door.write(path, content, { mode: state.mode, temporaryName });
}

/** Removes an empty folder to make room; anything else was put there meanwhile. */
function clearPlace(path: string, door: FolderDoor): void {
  try {
    door.removeFolder(path);
  } catch (error) {
    if (error instanceof DoorError) throw error;
    if (errorCode(error) === "ENOENT") return;
    throw new DoorError("something else is in its place");
  }
}

function checkUnchanged(path: string, { door, current }: Writing): void {
  const before = current.get(path)?.stamp;
  const now = door.look(path);
  if (before === undefined || now === undefined || !hasSameStamp(before, now)) {
    throw new DoorError("it was changed just now");
  }
}
