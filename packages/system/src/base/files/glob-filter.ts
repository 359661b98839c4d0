import { globMatcher } from "./glob-matcher.ts";

/** A compiled glob. */
export interface GlobFilter {
  /** Whether a posix path relative to the searched directory matches. */
  readonly matches: (path: string) => boolean;
  readonly canMatchBelow: (directory: string) => boolean;
}

/** A glob without a slash matches names at any depth; one with a slash matches whole paths from the top. */
export function globFilter(glob: string): GlobFilter {
  const plain = withoutPrefix(glob);
  const matches = globMatcher(plain);
  if (!plain.includes("/")) {
    return {
      matches: (path) => matches(path.slice(path.lastIndexOf("/") + 1)),
      canMatchBelow: () => true,
    };
  }
  const base = folderOf(plain);
  const canMatchBelow = (directory: string) =>
    base === "" || `${base}/`.startsWith(`${directory}/`) || directory.startsWith(`${base}/`);
  return { matches, canMatchBelow };
}

/** The folders that a pattern names before its first wildcard. */
function folderOf(glob: string): string {
  const names = glob.split("/").slice(0, -1);
  const end = names.findIndex((name) => /[*?[{\\]/.test(name));
  return (end === -1 ? names : names.slice(0, end)).join("/");
}

/** Removes a leading `./` or `/`: both mean the searched directory. */
export function withoutPrefix(glob: string): string {
  return glob.replace(/^(?:\.?\/)+/, "");
}
