import { posix, sep, win32 } from "node:path";
import { fileURLToPath } from "node:url";
import { ToolError } from "@tau-agent/agent";
import { isWorkspaceError, type Workspace } from "@tau-agent/rpc-protocol/workspace";
import { keyFileRefusal, type ProtectedFiles, type Sandbox } from "@tau-agent/system";

/** The base of relative paths and `~`, in the notation of the workspace. */
export interface PathBase {
  readonly cwd: string;
  readonly homeDirectory: string;
  readonly workspace: Pick<Workspace, "id" | "stat">;
  /** Whether the workspace uses Windows paths; default as on this machine. */
  readonly isWindows?: boolean | undefined;
  /** Files that no tool may open, by any path. */
  readonly protectedFiles?: ProtectedFiles | undefined;
  readonly sandbox?: Pick<Sandbox, "hostPath" | "refuseRead" | "mayRead"> | undefined;
}

type PureBase = Pick<PathBase, "cwd" | "homeDirectory" | "isWindows">;

const oddSpaces = /[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g;

/** The path functions for a workspace's notation. */
export function pathsOf({ isWindows = sep === "\\" }: Pick<PathBase, "isWindows">) {
  return isWindows ? win32 : posix;
}

/**
 * Makes a path from a model absolute: `@path`, `~/path`, `file://`, unusual spaces, relative paths.
 * A name that begins with `@` is taken literally if such a file or folder exists.
 *
 * @throws {ToolError} for a file that contains keys, or that the sandbox closes
 */
export async function resolvePath(written: string, base: PathBase): Promise<string> {
  // Decided without I/O if possible, so that calls for one file keep their order.
  const literal = written.startsWith("@") && (await isLiteral(written, base));
  const named = literal ? pathsOf(base).resolve(base.cwd, written) : absolutePath(written, base);
  const path = base.sandbox?.hostPath(named) ?? named;
  refuseClosed(path, written, base);
  return path;
}

/** Whether a path leads to a file that contains keys, or that the sandbox closes; for searches. */
export function isProtected(path: string, { protectedFiles, sandbox }: Partial<PathBase>): boolean {
  return sandbox?.mayRead(path) === false || protectedFiles?.paths.has(path) === true;
}

/** The opened file itself is checked later; this refuses the path as the model wrote it. */
function refuseClosed(path: string, written: string, { protectedFiles, sandbox }: PathBase): void {
  sandbox?.refuseRead(path, written);
  if (protectedFiles?.paths.has(path)) throw new ToolError(keyFileRefusal(written));
}

/** The path that a model refers to, as {@link resolvePath}, without checking what exists. */
export function absolutePath(written: string, base: PureBase): string {
  const { isAbsolute, join, resolve, sep: separator } = pathsOf(base);
  const plain = written.replace(oddSpaces, " ");
  const path = plain.startsWith("@") ? plain.slice(1) : plain;
  if (path.startsWith("file://")) return fromFileUrl(path, base);
  if (path === "~") return base.homeDirectory;
  if (path.startsWith("~/") || path.startsWith(`~${separator}`)) {
    return join(base.homeDirectory, path.slice(2));
  }
  return isAbsolute(path) ? resolve(path) : resolve(base.cwd, path);
}

/** Whether a name with `@`, or the folder `@scope` of `@scope/file`, exists; a plain `@` only marks a path. */
async function isLiteral(written: string, { cwd, workspace, ...base }: PathBase): Promise<boolean> {
  const { resolve } = pathsOf(base);
  const [scope = ""] = written.split("/", 1);
  const look = (path: string) => workspace.stat(path).catch(() => undefined);
  const [own, folder] = await Promise.all([
    look(resolve(cwd, written)),
    scope.length > 1 && scope !== written ? look(resolve(cwd, scope)) : undefined,
  ]);
  return own !== undefined || folder?.kind === "directory";
}

/**
 * Opens a file that should exist by the path that a model means. macOS uses other spaces, accents and apostrophes in
 * names than models do, so if the file is missing, these spellings are tried, too.
 */
export async function openExisting<Opened>(
  written: string,
  base: PathBase,
  open: (path: string) => Promise<Opened>,
): Promise<Opened> {
  const path = await resolvePath(written, base);
  const look = () => firstThere(otherSpellings(written, path, base), base);
  // In a remote workspace, querying in advance costs less than waiting for a later query.
  const early = base.workspace.id === "local" ? undefined : look();
  try {
    return await open(path);
  } catch (error) {
    if (!isWorkspaceError(error, "not_found")) throw error;
    const other = await (early ?? look());
    if (other === undefined) throw error;
    refuseClosed(other, written, base);
    return open(other);
  }
}

/** The path of a file that should exist; if it is missing, the path as the model wrote it. */
export async function existingPath(written: string, base: PathBase): Promise<string> {
  const path = await resolvePath(written, base);
  const others = otherSpellings(written, path, base);
  if (others.length === 0) return path;
  const found = await firstThere([path, ...others], base);
  if (found === undefined || found === path) return path;
  refuseClosed(found, written, base);
  return found;
}

async function firstThere(
  paths: readonly string[],
  { workspace }: PathBase,
): Promise<string | undefined> {
  const found = await Promise.all(paths.map((path) => workspace.stat(path).catch(() => undefined)));
  return paths.find((_, at) => found[at] !== undefined);
}

function otherSpellings(written: string, path: string, base: PathBase): readonly string[] {
  const { isAbsolute, resolve } = pathsOf(base);
  const exact = isAbsolute(written) ? written : resolve(base.cwd, written.replace(/^@/, ""));
  const narrow = path.replace(/ ([AaPp][Mm])\b/g, "\u202F$1");
  const decomposed = path.normalize("NFD");
  const spellings = new Set([
    exact,
    narrow,
    decomposed,
    path.replaceAll("'", "\u2019"),
    narrow.normalize("NFD"),
    decomposed.replaceAll("'", "\u2019"),
  ]);
  spellings.delete(path);
  return [...spellings];
}

/** A path with forward slashes, as in globs and as models write paths. */
export function toPosix(path: string, base: Pick<PathBase, "isWindows"> = {}): string {
  const { sep: separator } = pathsOf(base);
  return separator === "/" ? path : path.replaceAll(separator, "/");
}

function fromFileUrl(url: string, { isWindows }: PureBase): string {
  try {
    return fileURLToPath(url, { windows: isWindows });
  } catch {
    // Not a valid URL (a bare % or a host), so the text after the scheme is used literally.
    return pathsOf({ isWindows }).resolve(url.slice("file://".length));
  }
}
