import type { Walk, WalkedFile } from "../../files/walk.ts";
import { foldersAbove } from "../../git/file-names.ts";

export interface CoverageLimits {
  readonly maxFileBytes: number;
  /** The most bytes in folders that git ignores; outside git, in all files. */
  readonly maxTotalBytes: number;
}

export interface Coverage {
  readonly files: readonly WalkedFile[];
  /** Paths of files and folders, sorted. */
  readonly leftOut: readonly string[];
}

/**
 * Decides which files are recorded. Git is asked what it ignores only if all files together exceed the limit;
 * otherwise nothing needs to be left out.
 *
 * @param ignoredFolders - the folders that git ignores, without those inside them; undefined outside git
 */
export async function coverageOf(
  { files, leftOut }: Walk,
  limits: CoverageLimits,
  ignoredFolders: () => Promise<readonly string[] | undefined>,
): Promise<Coverage> {
  const missing = [...leftOut];
  const fitting = files.filter(({ path, stats }) => {
    if (stats.size <= limits.maxFileBytes) return true;
    missing.push(path);
    return false;
  });
  const total = fitting.reduce(
    (sum, { kind, stats }) => sum + (kind === "file" ? stats.size : 0),
    0,
  );
  if (total <= limits.maxTotalBytes) return { files: fitting, leftOut: missing.sort() };
  const folders = await ignoredFolders();
  const groups = groupsOf(fitting, folders === undefined ? undefined : new Set(folders));
  const dropped = tooMuch(groups, limits.maxTotalBytes);
  const kept = fitting.filter(({ path }) => {
    const group = groups.of(path);
    return group === undefined || !dropped.has(group);
  });
  return { files: kept, leftOut: [...missing, ...dropped].sort() };
}

interface Groups {
  readonly sizes: ReadonlyMap<string, number>;
  /** The group of a path; undefined if it is always recorded. */
  readonly of: (path: string) => string | undefined;
}

/** In git, each ignored folder is kept or left out as a whole; elsewhere, each entry of the top folder. */
function groupsOf(files: readonly WalkedFile[], folders: ReadonlySet<string> | undefined): Groups {
  const of = (path: string): string | undefined => {
    if (folders === undefined) return path.split("/", 1)[0];
    return foldersAbove(path).findLast((folder) => folders.has(folder));
  };
  const sizes = new Map<string, number>();
  for (const { path, kind, stats } of files) {
    const group = of(path);
    if (group === undefined || kind !== "file") continue;
    sizes.set(group, (sizes.get(group) ?? 0) + stats.size);
  }
  return { sizes, of };
}

/** The groups to leave out, beginning with the largest. */
function tooMuch({ sizes }: Groups, limit: number): ReadonlySet<string> {
  const bySize = [...sizes].sort(([one, size], [other, otherSize]) =>
    size === otherSize ? (one < other ? -1 : 1) : size - otherSize,
  );
  const dropped = new Set<string>();
  let total = 0;
  for (const [group, size] of bySize) {
    if (total + size > limit) dropped.add(group);
    else total += size;
  }
  return dropped;
}
