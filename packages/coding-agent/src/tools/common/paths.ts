import { existsSync } from "node:fs";
import { isAbsolute, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Where relative paths and `~` lead. */
export interface PathBase {
  readonly cwd: string;
  readonly homeDirectory: string;
}

const oddSpaces = /[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g;

/** Makes a path as a model writes it absolute: `@path`, `~/path`, `file://`, odd spaces, relative. */
export function resolvePath(written: string, base: PathBase): string {
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
  const path = resolvePath(written, base);
  if (existsSync(path)) return path;
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
    if (spelling !== path && existsSync(spelling)) return spelling;
  }
  return path;
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
