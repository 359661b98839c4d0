import { lstatSync, readlinkSync } from "node:fs";
import { dirname, join, parse, resolve, sep } from "node:path";
import { errorCode } from "../../base/files/error-code.ts";

/** As many links as systems follow. */
const MAX_LINKS = 40;

export interface ResolvedPath {
  /** The real path, also of what does not exist yet. */
  readonly path: string;
  /** Whether the way leads through the files of a process, whose links lead where no path says. */
  readonly isThroughProcess: boolean;
}

/**
 * Follows the links of a path, dangling ones too. Not `realpath`: of `/proc/<process>/root` that reads the
 * text of the link, while an open goes to the root of that process.
 */
export function resolveLinks(path: string): ResolvedPath {
  let links = 0;
  let isThroughProcess = false;
  let todo = partsOf(path);
  let place = parse(resolve(path)).root;
  while (todo.length > 0) {
    const [part = "", ...rest] = todo;
    todo = rest;
    if (part === "..") {
      place = dirname(place);
      continue;
    }
    const next = join(place, part);
    if (/^\/proc\/(?:\d+|self|thread-self)(?:\/|$)/.test(next)) isThroughProcess = true;
    const target = linkTarget(next);
    if (target === undefined || ++links > MAX_LINKS) {
      place = next;
      continue;
    }
    const isAbsolute = target.startsWith(sep);
    if (isAbsolute) place = parse(target).root;
    todo = [...partsOf(target), ...todo];
  }
  return { path: place, isThroughProcess };
}

function partsOf(path: string): string[] {
  return path.split(sep).filter((part) => part !== "" && part !== ".");
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch (error) {
    const code = errorCode(error) ?? "";
    // What is not there, or cannot be looked at, cannot be opened through a link either. EINVAL: it was
    // exchanged for something else just now.
    const isNoLink = ["ENOENT", "ENOTDIR", "EACCES", "ELOOP", "ENAMETOOLONG", "EINVAL"];
    if (isNoLink.includes(code)) return undefined;
    throw error;
  }
}
