import { existsSync } from "node:fs";
import { isAbsolute, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { ToolError } from "@tau-agent/agent";
import { type ProtectedFiles, type Sandbox, statOf } from "@tau-agent/system";

/** Where relative paths and `~` lead. */
export interface PathBase {
  readonly cwd: string;
  readonly homeDirectory: string;
  /** Files that no tool opens, by any name. */
  readonly protectedFiles?: ProtectedFiles | undefined;
  readonly sandbox?: Pick<Sandbox, "hostPath" | "refuseRead" | "mayRead"> | undefined;
}

const oddSpaces = /[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g;

/**
 * Makes a path as a model writes it absolute: `@path`, `~/path`, `file://`, odd spaces, relative. A
 * name that begins with `@` is taken as it is where there is such a file or folder.
 *
 * @throws {ToolError} for a file that holds keys, or that the sandbox closes
 */
export function resolvePath(written: string, base: PathBase): string {
  const named = absolutePath(written, base);
  const path = base.sandbox?.hostPath(named) ?? named;
  refuseProtected({ path, found: statOf(path) }, written, base);
  return path;
}

/** Whether a path leads to a file that holds keys, through links of any kind. */
export function isProtected(path: string, { protectedFiles, sandbox }: Partial<PathBase>): boolean {
  if (sandbox?.mayRead(path) === false) return true;
  return protectedFiles?.includes(path, statOf(path)) === true;
}

function refuseProtected(
  { path, found }: { readonly path: string; readonly found: ReturnType<typeof statOf> },
  written: string,
  { protectedFiles, sandbox }: PathBase,
): void {
  sandbox?.refuseRead(path, written);
  if (protectedFiles?.includes(path, found) === true) {
    throw new ToolError(`${written} holds keys and is not opened. Ask the user to change it.`);
  }
}

/** The path that a model means, as {@link resolvePath}, without a look at what is there. */
export function absolutePath(written: string, base: PathBase): string {
  const literal = resolve(base.cwd, written);
  const [scope = ""] = written.split("/", 1);
  if (written.startsWith("@") && (existsSync(literal) || isScope(scope, base))) return literal;
  const plain = written.replace(oddSpaces, " ");
  const path = plain.startsWith("@") ? plain.slice(1) : plain;
  if (path.startsWith("file://")) return fromFileUrl(path);
  if (path === "~") return base.homeDirectory;
  if (path.startsWith("~/") || path.startsWith(`~${sep}`)) {
    return join(base.homeDirectory, path.slice(2));
  }
  return isAbsolute(path) ? resolve(path) : resolve(base.cwd, path);
}

/**
 * Like {@link resolvePath} for a file that should exist: macOS writes names with other spaces,
 * accents and apostrophes than models do, so these spellings are tried too. Synchronous, so that
 * calls for one file keep their order.
 */
export function resolveExistingPath(written: string, base: PathBase): string {
  const path = absolutePath(written, base);
  const found = statOf(path);
  refuseProtected({ path, found }, written, base);
  if (found !== undefined) return path;
  const exact = isAbsolute(written) ? written : resolve(base.cwd, written.replace(/^@/, ""));
  const narrow = path.replace(/ ([AaPp][Mm])\b/g, "\u202F$1");
  const decomposed = path.normalize("NFD");
  const spellings = [
    exact,
    narrow,
    decomposed,
    path.replaceAll("'", "\u2019"),
    narrow.normalize("NFD"),
    decomposed.replaceAll("'", "\u2019"),
  ];
  for (const spelling of new Set(spellings)) {
    const other = spelling === path ? undefined : statOf(spelling);
    if (other === undefined) continue;
    refuseProtected({ path: spelling, found: other }, written, base);
    return spelling;
  }
  return path;
}

/** Whether `@scope` of `@scope/file` is a folder; `@` alone marks a path. */
function isScope(scope: string, { cwd }: PathBase): boolean {
  return scope.length > 1 && statOf(resolve(cwd, scope))?.isDirectory() === true;
}

/** With forward slashes, as models and globs write paths. */
export function toPosix(path: string): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}

function fromFileUrl(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    // Not a valid URL (a bare % or a host), so use the text after the scheme as it is.
    return resolve(url.slice("file://".length));
  }
}
