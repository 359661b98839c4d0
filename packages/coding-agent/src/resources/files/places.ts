import nodePath, { type PlatformPath } from "node:path";
import { createGlob, type ResourceEntry } from "@tau-agent/system";
import { askEach, type Disk, entriesOf, hostDisk, kindOfStat, lookAt } from "./disk.ts";

export type ResourceScope = "user" | "project" | "temporary" | "package";

export interface ResourcePlace {
  readonly path: string;
  readonly disk: Disk;
  readonly scope: ResourceScope;
  /** Whether a setting or a flag names it, so that a missing file is worth a diagnostic. */
  readonly isNamed: boolean;
  /** Selects its files; all by default. */
  readonly includes?: (path: string) => boolean;
}

/** The folders a session's text resources come from. */
export interface ResourceDirs {
  readonly agentDirectory: string;
  readonly cwd: string;
  /** The user's home, for `~` and `~/.agents`. */
  readonly homeDirectory: string;
  /** The disk of `cwd`; by default this machine's, which has the other folders. */
  readonly disk?: Disk | undefined;
}

/** The disks of the user's files and of the project's. */
export interface Disks {
  readonly host: Disk;
  readonly project: Disk;
}

export function disksOf({
  homeDirectory,
  disk,
}: Pick<ResourceDirs, "homeDirectory" | "disk">): Disks {
  const host = hostDisk(homeDirectory);
  return { host, project: disk ?? host };
}

/** Whether a file matches. */
type FileFilter = (path: string, disk: Disk) => boolean;

export interface LoadOptions {
  /** Whether to leave out the standard folders. */
  readonly onlyNamed?: boolean;
  readonly excludes?: FileFilter;
}

/** `dir` and the folders above it, nearest first. */
export function ancestorsOf(dir: string, path: PlatformPath = nodePath): string[] {
  const found = [path.resolve(dir)];
  for (;;) {
    const last = found.at(-1) ?? dir;
    const parent = path.dirname(last);
    if (parent === last) return found;
    found.push(parent);
  }
}

/** `path` made absolute from `baseDirectory`, with `~` as the home folder. */
export function absolutePath(
  path: string,
  baseDirectory: string,
  homeDirectory: string,
  { isAbsolute, join, resolve }: PlatformPath = nodePath,
): string {
  if (path === "~") return homeDirectory;
  if (/^~[/\\]/.test(path)) return join(homeDirectory, path.slice(2));
  return isAbsolute(path) ? path : resolve(baseDirectory, path);
}

/** The places that a settings list names, and its exclusions. */
export interface SettingPlaces {
  readonly places: readonly ResourcePlace[];
  /** Whether an entry `-path` or `!pattern` excludes a file. */
  readonly excludes: FileFilter;
}

interface SettingRule {
  readonly mark: string;
  readonly fits: FileFilter;
}

/**
 * Reads a settings list: a path or glob names a place, `!pattern` excludes files, `+path` names a place that no pattern
 * excludes, and `-path` takes precedence over all. Paths are on the machine of the settings.
 */
export function settingPlaces(entries: readonly ResourceEntry[], disks: Disks): SettingPlaces {
  const places: ResourcePlace[] = [];
  const rules: SettingRule[] = [];
  for (const { entry, scope, baseDirectory } of entries) {
    const disk = scope === "project" ? disks.project : disks.host;
    const mark = /^[-+!]/.exec(entry)?.[0] ?? "";
    const given = entry.slice(mark.length);
    const path = absolutePath(given, baseDirectory, disk.homeDirectory, disk.path);
    if (mark === "" || mark === "+") places.push({ path, disk, scope, isNamed: true });
    rules.push({ mark, fits: fileFilter({ mark, given, path, disk }) });
  }
  const fitsOne = (mark: string, ...file: Parameters<FileFilter>): boolean =>
    rules.some((rule) => rule.mark === mark && rule.fits(...file));
  const excludes: FileFilter = (...file) =>
    fitsOne("-", ...file) || (fitsOne("!", ...file) && !fitsOne("+", ...file));
  return { places, excludes };
}

/** Matches an entry against a file: resolved paths on the entry's own disk, and the pattern as written on any disk. */
function fileFilter({
  mark,
  given,
  path,
  disk,
}: {
  readonly mark: string;
  readonly given: string;
  readonly path: string;
  readonly disk: Disk;
}): FileFilter {
  const isInside = (file: string, folder: string, { sep }: PlatformPath): boolean =>
    file === folder || file.startsWith(`${folder}${sep}`);
  // A pattern also matches in any folder, and one without a slash matches file names.
  const isPattern = mark === "!" || mark === "-";
  const fitsPath = isPattern ? createGlob(path) : () => false;
  const fitsGiven = isPattern ? createGlob(given) : () => false;
  const fitsName = mark === "!" && !given.includes("/") ? createGlob(given) : () => false;
  return (file, on) => {
    const isOwn = on.id === disk.id;
    return (
      isInside(file, isOwn ? path : given, on.path) ||
      (isOwn && fitsPath(file)) ||
      fitsGiven(file) ||
      fitsName(on.path.basename(file))
    );
  };
}

/** How many levels below a glob's first wildcard `**` searches. */
const maxGlobLevels = 8;

/** The places that globs among the paths match: folders, and Markdown files outside of them. */
export async function expandPlaces(places: readonly ResourcePlace[]): Promise<ResourcePlace[]> {
  const expanded = await Promise.all(
    places.map(async (place) => {
      if (!/[*?[]/.test(place.path)) return [place];
      const paths = await pathsOf(place.disk, place.path);
      return paths.map((path) => ({ ...place, path }));
    }),
  );
  return expanded.flat();
}

async function pathsOf(disk: Disk, glob: string): Promise<string[]> {
  const { dirname, join } = disk.path;
  const fits = createGlob(glob);
  let folder = glob;
  while (/[*?[]/.test(folder)) folder = dirname(folder);
  const levels = glob.slice(folder.length).split(/[/\\]/).length;
  const last = levels + (glob.includes("**") ? maxGlobLevels : 0);
  const visit = async (current: string, level: number): Promise<string[]> => {
    const found = askEach(await entriesOf(disk, current), disk, async ({ name, kind: itself }) => {
      if (name.startsWith(".") || name === "node_modules") return [];
      const path = join(current, name);
      const kind = itself === "symlink" ? kindOfStat(await lookAt(disk, path)) : itself;
      if (fits(path) && (kind === "directory" || name.endsWith(".md"))) return [path];
      return kind === "directory" && level < last ? visit(path, level + 1) : [];
    });
    const paths: string[] = [];
    for (const answer of found) paths.push(...(await answer()));
    return paths;
  };
  return visit(folder, 1);
}
