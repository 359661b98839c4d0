import { errorMessage, remedyOfLimit } from "@tau-agent/rpc-protocol/plain";
import {
  type Workspace,
  WorkspaceError,
  type WorkspaceReach,
  type WorkspaceSearchRequest,
  type WorkspaceSearchResult,
} from "@tau-agent/rpc-protocol/workspace";
import { globFilter } from "../../base/files/glob-filter.ts";
import { withoutTrailing } from "../../base/without-trailing.ts";
import { createFoundLines } from "./found-lines.ts";
import {
  contextOf,
  type LineSearch,
  lineSearch,
  patternProblem,
  type SearchRoot,
} from "./search-request.ts";
import { type WalkSource, walk } from "./walk.ts";

const maxFileBytes = 50 * 1024 * 1024;
/** How many files are read ahead while one is searched: each read may be a round trip. */
const readsAhead = 16;
/** Larger files are read only when their turn comes, so that few are in memory. */
const maxAheadBytes = 1024 * 1024;

/** The next file to search. */
interface NextFile {
  readonly file: string;
  /** The path as shown in results. */
  readonly path: string;
  readonly early: Promise<Uint8Array | undefined>;
}

/** What a search by listing needs to know about a workspace. */
export interface SearchPlace extends WalkSource {
  /** The bytes of a file; undefined if it is unreadable or larger than the limit. */
  bytes(file: string, maxBytes: number): Promise<Uint8Array | undefined>;
  /** Whether a path may appear in results; by default it may. */
  readonly mayShow?: ((path: string) => boolean) | undefined;
  /** `\` on Windows. */
  readonly separator: string;
}

/** Searches with the workspace's list and read calls, for workspaces without a search of their own. */
export async function searchByListing(
  workspace: Pick<Workspace, "stat" | "list" | "read" | "describe">,
  request: WorkspaceSearchRequest,
): Promise<WorkspaceSearchResult> {
  const { signal, within, path } = request;
  const [found, { platform }] = await Promise.all([
    workspace.stat(path, { signal, within }),
    workspace.describe({ signal }),
  ]);
  const root = searchRootOf(found?.kind, request);
  const place = remotePlace(workspace, { signal, within, isWindows: platform === "win32" });
  return request.kind === "find" ? findFiles(place, request) : findLines(place, request, root);
}

/** @throws {WorkspaceError} nothing is there, or the path is of a kind that cannot be searched like this */
export function searchRootOf(
  kind: string | undefined,
  request: Pick<WorkspaceSearchRequest, "kind" | "path">,
): SearchRoot {
  const { path } = request;
  if (kind === undefined) throw new WorkspaceError("not_found", undefined, { path });
  const isDirectory = kind === "directory";
  if (isDirectory) return { path, isDirectory };
  if (request.kind === "find") throw new WorkspaceError("not_a_directory", undefined, { path });
  if (kind === "file") return { path, isDirectory };
  throw new WorkspaceError("failed", "Not a regular file", { path });
}

/** Matching lines, with JavaScript's regular expressions but otherwise as ripgrep finds them. */
export async function findLines(
  place: SearchPlace,
  request: WorkspaceSearchRequest,
  root: SearchRoot,
): Promise<WorkspaceSearchResult> {
  const lines = createFoundLines(request.limit, contextOf(request), pathOfResult(place, root));
  const search = lineSearch(request, root, (line) => lines.add(line));
  const expression = expressionOf(search);
  if (!root.isDirectory) {
    const file = toPosix(root.path, place);
    const early = place.bytes(file, maxFileBytes);
    await searchFile({ file, path: baseName(file), early }, expression, search, place);
    return lines.result();
  }
  const prefix = withoutTrailing(toPosix(root.path, place), "/");
  const isWanted = (path: string) => search.filter === undefined || search.filter.matches(path);
  const { signal } = request;
  const next: NextFile[] = [];
  const searchNext = async (): Promise<boolean> => {
    const file = next.shift();
    return file === undefined || searchFile(file, expression, search, place);
  };
  for await (const entries of walk(toPosix(root.path, place), { source: place, signal })) {
    for (const { path, isFile } of entries) {
      const file = `${prefix}/${path}`;
      if (!isFile || !isWanted(path) || place.mayShow?.(file) === false) continue;
      const early = place.bytes(file, maxAheadBytes);
      // The search may end before this file's turn.
      early.catch(() => {});
      next.push({ file, path, early });
      if (next.length > readsAhead && !(await searchNext())) return lines.result();
    }
  }
  while (next.length > 0) if (!(await searchNext())) break;
  return lines.result();
}

/** Files and folders with matching names; the paths of folders end with a separator. */
export async function findFiles(
  place: SearchPlace,
  { path: root, pattern, limit, signal }: WorkspaceSearchRequest,
): Promise<WorkspaceSearchResult> {
  const onlyDirectories = pattern.endsWith("/");
  const filter = globFilter(withoutTrailing(pattern, "/"));
  const pathOf = pathOfResult(place, { path: root, isDirectory: true });
  const prefix = withoutTrailing(toPosix(root, place), "/");
  const matches: { path: string }[] = [];
  const options = { source: place, signal, canEnter: filter.canMatchBelow };
  for await (const entries of walk(toPosix(root, place), options)) {
    for (const { path, isDirectory } of entries) {
      if ((onlyDirectories && !isDirectory) || !filter.matches(path)) continue;
      if (place.mayShow?.(`${prefix}/${path}`) === false) continue;
      if (matches.length >= limit) return { matches, truncated: true };
      matches.push({ path: pathOf(isDirectory ? `${path}/` : path) });
    }
  }
  return { matches, truncated: false };
}

/** Converts a path relative to the search root to the path of a result. */
export function pathOfResult(
  { separator }: Pick<SearchPlace, "separator">,
  { path: root, isDirectory }: SearchRoot,
): (path: string) => string {
  if (!isDirectory) return () => root;
  const prefix = root.endsWith(separator) ? root : root + separator;
  return separator === "/"
    ? (path) => prefix + path
    : (path) => prefix + path.replaceAll("/", separator);
}

function toPosix(path: string, { separator }: Pick<SearchPlace, "separator">): string {
  return separator === "/" ? path : path.replaceAll(separator, "/");
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function remotePlace(
  workspace: Pick<Workspace, "list" | "read">,
  options: {
    readonly signal: AbortSignal | undefined;
    readonly within: WorkspaceReach | undefined;
    readonly isWindows: boolean;
  },
): SearchPlace {
  const { isWindows, ...access } = options;
  const bytes = async (file: string, maxBytes: number) => {
    const found = await workspace
      .read(file, { ...access, length: maxBytes + 1 })
      .catch(unlessBroken(undefined));
    return found === undefined || found.length > maxBytes ? undefined : found;
  };
  return {
    separator: isWindows ? "\\" : "/",
    list: (folder) => workspace.list(withoutEnd(folder), access).catch(unlessBroken([])),
    text: async (file, maxBytes) => new TextDecoder().decode(await bytes(file, maxBytes)),
    bytes,
  };
}

function withoutEnd(folder: string): string {
  const plain = withoutTrailing(folder, "/");
  return plain === "" || plain.endsWith(":") ? folder : plain;
}

/**
 * For `catch`: replaces something that cannot be read by the value. A lost workspace, an abort and a limit on
 * open files still fail the search: otherwise it would report that it found nothing.
 */
function unlessBroken<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    const isOfFile =
      error instanceof WorkspaceError &&
      !["lost", "stale_epoch", "unsupported", "aborted"].includes(error.code);
    if (!isOfFile || remedyOfLimit(error) !== undefined) throw error;
    return value;
  };
}

function expressionOf({ pattern, isLiteral, ignoresCase }: LineSearch): RegExp {
  const inline = /^\(\?i\)/.test(pattern) && !isLiteral;
  const flags = ignoresCase || inline ? "i" : "";
  const source = isLiteral
    ? pattern.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")
    : inline
      ? pattern.slice(4)
      : pattern;
  try {
    return new RegExp(source, flags);
  } catch (error) {
    const text = patternProblem(pattern, errorMessage(error));
    throw new WorkspaceError("failed", text, { cause: error });
  }
}

async function searchFile(
  { path, ...next }: NextFile,
  expression: RegExp,
  search: LineSearch,
  place: SearchPlace,
): Promise<boolean> {
  search.signal?.throwIfAborted();
  const text = await textOf(next, place);
  if (text === undefined) return true;
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  let reported = -1;
  const report = (index: number, isMatch: boolean) => {
    reported = index;
    return search.onLine({ path, number: index + 1, text: lines[index] ?? "", isMatch });
  };
  let contextEnd = -1;
  for (const [index, line] of lines.entries()) {
    const isMatch = expression.test(line.replace(/\r$/, ""));
    if (!isMatch && index > contextEnd) continue;
    const before = isMatch ? Math.max(reported + 1, index - search.context) : index;
    for (let earlier = before; earlier < index; earlier++) {
      if (!report(earlier, false)) return false;
    }
    if (!report(index, isMatch)) return false;
    if (isMatch) contextEnd = index + search.context;
  }
  return true;
}

/** The text of a file; undefined if it is unreadable, huge or binary. */
async function textOf(
  { file, early }: Pick<NextFile, "file" | "early">,
  place: SearchPlace,
): Promise<string | undefined> {
  const bytes = (await early) ?? (await place.bytes(file, maxFileBytes));
  if (bytes === undefined) return undefined;
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return bytes.subarray(0, 8192).includes(0) ? undefined : new TextDecoder().decode(bytes);
}
