import { lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, sep } from "node:path";
import {
  attempt,
  type Diagnostic,
  errorCode,
  keyFileNames,
  readTextFile,
  readTextFileNow,
  type TextFile,
} from "@tau-agent/system";
import { ancestorsOf, type ResourceDirs, type ResourcePlace } from "./places.ts";

/**
 * Whose choice a file is: `own` was put into the user's folders or named by the user, `project` came
 * with the project and may link anywhere.
 */
export type TextOrigin = "own" | "project";

export interface TextBounds {
  /** The project and, if it is inside one, its repository; as named and with links followed. */
  readonly named: readonly string[];
  readonly real: readonly string[];
  readonly agentDirectory: string;
  /** Undefined where files have no owners. */
  readonly user: number | undefined;
}

/** More than any instructions; a project must not fill the request. */
const MAX_PROJECT_TEXT = 1024 * 1024;
const BINARY_SAMPLE = 8192;

/** Finds out what belongs to a project. A few looks at folders, so it is done once for each load. */
export function textBoundsOf({
  cwd,
  agentDirectory,
  homeDirectory,
}: Pick<ResourceDirs, "cwd" | "agentDirectory" | "homeDirectory">): TextBounds {
  const user = process.geteuid?.();
  const root = repositoryOf(cwd, user);
  // A home under version control does not make everything in it part of each project.
  const isHome = root !== undefined && isWithin(realOf(homeDirectory), realOf(root));
  const named = root === undefined || isHome ? [cwd] : [cwd, root];
  return { named, real: named.map(realOf), agentDirectory: realOf(agentDirectory), user };
}

/** The origin of what is found in a place. */
export function originOf({ scope, isNamed }: Pick<ResourcePlace, "scope" | "isNamed">): TextOrigin {
  return scope === "project" && !isNamed ? "project" : "own";
}

export async function readBoundText(
  path: string,
  origin: TextOrigin,
  bounds: TextBounds,
): Promise<TextFile> {
  const found = decide(path, origin, bounds);
  return typeof found === "string" ? checked(path, await readTextFile(found)) : found;
}

/** {@link readBoundText} for a few small files, without leaving the thread. */
export function readBoundTextNow(path: string, origin: TextOrigin, bounds: TextBounds): TextFile {
  const found = decide(path, origin, bounds);
  return typeof found === "string" ? checked(path, readTextFileNow(found)) : found;
}

/** Why a folder of a project is not searched; undefined when it may be. */
export function folderProblem(
  path: string,
  origin: TextOrigin,
  bounds: TextBounds,
): string | undefined {
  return attempt(() =>
    origin === "own" ? undefined : problemOf(path, realpathSync(path), bounds),
  );
}

/** Says that a file or folder does not count. */
export function leftOut(path: string, reason: string): Diagnostic {
  return { severity: "warning", message: `${path} is left out: ${reason}`, path };
}

/** The real path to read, or why there is nothing to read. */
function decide(path: string, origin: TextOrigin, bounds: TextBounds): string | TextFile {
  try {
    const real = realpathSync(path);
    const problem = contentProblem(real, statSync(real), origin, bounds);
    const outside = origin === "own" ? undefined : problemOf(path, real, bounds);
    const reason = outside ?? problem;
    return reason === undefined ? real : refused(path, reason);
  } catch (error) {
    const isMissing = ["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "");
    if (isMissing) return { kind: "missing", path };
    return refused(path, `it cannot be opened (${errorCode(error) ?? "unknown error"})`);
  }
}

/** What is wrong with a file wherever it is. */
function contentProblem(
  real: string,
  stats: Stats,
  origin: TextOrigin,
  { agentDirectory }: TextBounds,
): string | undefined {
  if (!stats.isFile()) return "it is not a regular file";
  // Somebody may work in shared memory, which is beside the devices.
  if (/^\/(?:proc|sys|dev(?!\/shm\/))\//.test(real)) return "it is not a regular file";
  if (keyFileNames.some((name) => name === basename(real)) && dirname(real) === agentDirectory) {
    return "it holds keys";
  }
  if (origin === "project" && stats.size > MAX_PROJECT_TEXT) return "it is larger than 1 MiB";
  return undefined;
}

/** Why something a project names does not belong to it. */
function problemOf(path: string, real: string, bounds: TextBounds): string | undefined {
  const { named, real: inside, agentDirectory, user } = bounds;
  const isBelow = named.some((folder) => isWithin(path, folder));
  const home = inside.find((folder) => isWithin(real, folder));
  // Worktrees of subagents are in the agent directory.
  const isOwnFolder = home !== undefined && isWithin(home, agentDirectory);
  if (isWithin(real, agentDirectory) && !isOwnFolder) {
    return "it is in the agent directory";
  }
  if (isBelow) return home === undefined ? "its real path is outside the project" : undefined;
  if (user === undefined) return undefined;
  const owners = [lstatSync(path).uid, statSync(real).uid];
  return owners.every((owner) => owner === user || owner === 0)
    ? undefined
    : "it is above the project and belongs to another user";
}

function checked(path: string, file: TextFile): TextFile {
  if (file.kind === "missing") return { kind: "missing", path };
  if (file.kind === "unreadable") return file;
  const isBinary = file.text.slice(0, BINARY_SAMPLE).includes("\0");
  return isBinary ? refused(path, "it is a binary file") : { ...file, path };
}

function refused(path: string, reason: string): TextFile {
  return { kind: "unreadable", path, diagnostic: leftOut(path, reason) };
}

/** The folder of the nearest `.git`, unless somebody else put it above the project. */
function repositoryOf(cwd: string, user: number | undefined): string | undefined {
  for (const dir of ancestorsOf(cwd)) {
    const marker = statSync(`${dir}${sep}.git`, { throwIfNoEntry: false });
    if (marker === undefined) continue;
    if (user === undefined) return dir;
    const owners = [user, 0, statSync(cwd, { throwIfNoEntry: false })?.uid];
    return owners.includes(marker.uid) ? dir : undefined;
  }
  return undefined;
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
