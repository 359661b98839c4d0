import picomatch from "picomatch";

/** A compiled glob. */
export interface GlobFilter {
  /** Whether a posix path relative to the searched directory matches. */
  readonly matches: (path: string) => boolean;
  /** Whether something below a directory could match. */
  readonly canMatchBelow: (directory: string) => boolean;
}

/** A glob without a slash matches names at any depth, one with a slash whole paths. */
export function globFilter(glob: string): GlobFilter {
  const plain = withoutPrefix(glob);
  const matches = picomatch(plain, { dot: true, nonegate: true });
  if (!plain.includes("/")) {
    return {
      matches: (path) => matches(path.slice(path.lastIndexOf("/") + 1)),
      canMatchBelow: () => true,
    };
  }
  const { base } = picomatch.scan(plain);
  const canMatchBelow = (directory: string) =>
    base === "" || `${base}/`.startsWith(`${directory}/`) || directory.startsWith(`${base}/`);
  return { matches, canMatchBelow };
}

/** Strips a leading `./` or `/`, which both mean the searched directory. */
export function withoutPrefix(glob: string): string {
  return glob.replace(/^(?:\.?\/)+/, "");
}
