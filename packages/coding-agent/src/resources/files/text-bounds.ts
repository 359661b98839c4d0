import { lstatSync, realpathSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import {
  isWorkspaceError,
  type WorkspaceReach,
  type WorkspaceStat,
} from "@tau-agent/rpc-protocol/workspace";
import {
  type Diagnostic,
  errorCode,
  isOutOfReach,
  keyFileNames,
  readTextFileNow,
  readTextIn,
  type TextFile,
} from "@tau-agent/system";
import { type Disk, type FoundFile, hostDisk, kindOfStat } from "./disk.ts";
import type { ResourcePlace } from "./places.ts";
import { isWithin, type TextBounds } from "./project-bounds.ts";

/**
 * Who chose a file: `own` files were put into the user's folders or named by the user, `project` files came with the
 * project and may be links to anything.
 */
export type TextOrigin = "own" | "project";

/** More than any instructions need; a project must not fill the request. */
const MAX_PROJECT_TEXT = 1024 * 1024;
const BINARY_SAMPLE = 8192;

/** The location of a file, and what is already known about it. */
export interface FoundText {
  /** Defaults to the project's disk for project files, and to this machine's otherwise. */
  readonly disk?: Disk | undefined;
  /** The state of the path, if it was already queried. */
  readonly found?: FoundFile;
}

/** The origin of files in a place. */
export function originOf({ scope, isNamed }: Pick<ResourcePlace, "scope" | "isNamed">): TextOrigin {
  return scope === "project" && !isNamed ? "project" : "own";
}

/** @throws {WorkspaceError} if the disk cannot be reached */
export async function readBoundText(
  path: string,
  origin: TextOrigin,
  bounds: TextBounds,
  given: FoundText = {},
): Promise<TextFile> {
  const disk = given.disk ?? (origin === "own" ? undefined : bounds.disk) ?? hostDisk("");
  const maxBytes = origin === "project" ? MAX_PROJECT_TEXT : undefined;
  const looked = "found" in given ? given.found : disk.files.stat(path);
  const within = reachOf(path, origin, bounds, disk);
  // On a remote disk, the file is read while its state is queried; the check applies to the opened file.
  const early = disk.isFar && within !== "unknown" && looked instanceof Promise;
  const text = early ? readTextIn(disk.files, path, { maxBytes, within }) : undefined;
  text?.catch(() => {});
  try {
    const found = await looked;
    if (found === undefined) return disk.isFar ? { kind: "missing", path } : missingHere(path);
    const real = found.realPath ?? path;
    const reason = problemOf({ path, real, found, disk }, origin, bounds);
    if (reason !== undefined) return refused(path, reason);
    const reach = { allow: [real], deny: [] };
    const last = text ?? readTextIn(disk.files, real, { maxBytes, within: reach });
    return checked(path, await last);
  } catch (error) {
    if (isOutOfReach(error)) throw error;
    return failed(path, error);
  }
}

/** {@link readBoundText} for a file on this machine, synchronously. */
export function readBoundTextNow(path: string, origin: TextOrigin, bounds: TextBounds): TextFile {
  try {
    const real = realpathSync(path);
    const stats = statSync(real);
    const kind = stats.isFile() ? "file" : stats.isDirectory() ? "directory" : "other";
    const found: WorkspaceStat = { kind, size: stats.size, realPath: real };
    const reason = problemOf({ path, real, found, disk: hostDisk("") }, origin, bounds);
    return reason === undefined ? checked(path, readTextFileNow(real)) : refused(path, reason);
  } catch (error) {
    return failed(path, error);
  }
}

/** Why a project's folder is not searched; undefined if it may be. */
export function folderProblem(
  path: string,
  found: WorkspaceStat | undefined,
  origin: TextOrigin,
  bounds: TextBounds,
): string | undefined {
  if (origin === "own" || found === undefined) return undefined;
  return strangerProblem(path, found.realPath ?? path, bounds);
}

/** The diagnostic for a file or folder that is left out. */
export function leftOut(path: string, reason: string): Diagnostic {
  return { severity: "warning", message: `${path} is left out: ${reason}`, path };
}

interface Judged {
  readonly path: string;
  readonly real: string;
  readonly found: WorkspaceStat;
  readonly disk: Disk;
}

/** Why a text is left out. */
function problemOf(file: Judged, origin: TextOrigin, bounds: TextBounds): string | undefined {
  const { path, real } = file;
  const outside = origin === "own" ? undefined : strangerProblem(path, real, bounds);
  return outside ?? contentProblem(file, origin, bounds);
}

/** Why a file is unusable, wherever it is. */
function contentProblem(
  { real, found, disk }: Judged,
  origin: TextOrigin,
  { agentDirectory }: TextBounds,
): string | undefined {
  if (kindOfStat(found) !== "file") return "it is not a regular file";
  // Device folders are refused, except for shared memory, which may contain a project.
  if (/^\/(?:proc|sys|dev(?!\/shm\/))\//.test(real)) return "it is not a regular file";
  const holdsKeys = keyFileNames.some((name) => name === basename(real));
  if (!disk.isFar && holdsKeys && dirname(real) === agentDirectory) return "it holds keys";
  if (origin === "project" && found.size > MAX_PROJECT_TEXT) return "it is larger than 1 MiB";
  return undefined;
}

/** Why a file that a project names does not belong to the project. */
function strangerProblem(path: string, real: string, bounds: TextBounds): string | undefined {
  const { named, real: inside, agentDirectory, user, disk, open } = bounds;
  const { sep, dirname } = (disk ?? hostDisk("")).path;
  const isBelow = named.some((folder) => isWithin(path, folder, sep));
  const home = inside.find((folder) => isWithin(real, folder, sep));
  if (disk === undefined) {
    // Worktrees of subagents are inside the agent directory.
    const isOwnFolder = home !== undefined && isWithin(home, agentDirectory, sep);
    if (isWithin(real, agentDirectory, sep) && !isOwnFolder) return "it is in the agent directory";
  }
  if (isBelow) return home === undefined ? "its real path is outside the project" : undefined;
  if (open.has(dirname(path)))
    return "it is in a folder above the project that anybody may write to";
  if (user === undefined) return undefined;
  const owners = [lstatSync(path).uid, statSync(real).uid];
  return owners.every((owner) => owner === user || owner === 0)
    ? undefined
    : "it is above the project and belongs to another user";
}

/** The paths that may be opened; `unknown` until the state of the path is known. */
export function reachOf(
  path: string,
  origin: TextOrigin,
  { named, real }: TextBounds,
  { path: { sep } }: Disk,
): WorkspaceReach | undefined | "unknown" {
  if (origin === "own") return undefined;
  const isBelow = named.some((folder) => isWithin(path, folder, sep));
  return isBelow ? { allow: real, deny: [] } : "unknown";
}

function checked(path: string, file: TextFile): TextFile {
  if (file.kind === "missing") return { kind: "missing", path };
  if (file.kind === "unreadable") return file;
  const isBinary = file.text.slice(0, BINARY_SAMPLE).includes("\0");
  return isBinary ? refused(path, "it is a binary file") : { ...file, path };
}

function failed(path: string, error: unknown): TextFile {
  const isOfWorkspace = isWorkspaceError(error);
  const code = errorCode(isOfWorkspace ? error.cause : error);
  if (code === "ENOENT" || code === "ENOTDIR") return { kind: "missing", path };
  const reason = code ?? (isOfWorkspace ? error.message : "unknown error");
  return refused(path, `it cannot be opened (${reason})`);
}

/** A link to itself exists, but cannot be opened. */
function missingHere(path: string): TextFile {
  try {
    realpathSync.native(path);
  } catch (error) {
    return failed(path, error);
  }
  return { kind: "missing", path };
}

function refused(path: string, reason: string): TextFile {
  return { kind: "unreadable", path, diagnostic: leftOut(path, reason) };
}
