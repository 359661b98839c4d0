import picomatch from "picomatch";

/** A glob, ready to be asked. */
export interface GlobFilter {
  /** Whether a posix path relative to the searched directory matches. */
  readonly matches: (path: string) => boolean;
  /** Whether something below a directory could match. */
  readonly canMatchBelow: (directory: string) => boolean;
}

/** Without a slash a glob is for names at any depth, with one for whole paths from the top. */
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

/** Takes `./` and `/` off the start: both mean the searched directory. */
export function withoutPrefix(glob: string): string {
  return glob.replace(/^(?:\.?\/)+/, "");
}
