import { lstatSync, readlinkSync } from "node:fs";
import { dirname, join, parse, resolve, sep } from "node:path";
import { errorCode } from "../../base/files/error-code.ts";

/** The number of links that systems follow. */
const MAX_LINKS = 40;

export interface ResolvedPath {
  /** The real path, even of something that does not exist yet. */
  readonly path: string;
  /** Whether the path leads through the files of a process, whose links have targets that no path can name. */
  readonly isThroughProcess: boolean;
}

/**
 * Follows the links of a path, including dangling ones. `realpath` cannot do this: for `/proc/<process>/root` it
 * reads the text of the link, while an open goes to the root of that process.
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
    // Something that is missing or cannot be inspected cannot be opened through a link either. EINVAL:
    // it was replaced by something else just now.
    const isNoLink = ["ENOENT", "ENOTDIR", "EACCES", "ELOOP", "ENAMETOOLONG", "EINVAL"];
    if (isNoLink.includes(code)) return undefined;
    throw error;
  }
}
