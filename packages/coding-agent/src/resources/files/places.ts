import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { createGlob, type ResourceEntry } from "@tau-agent/system";

export type ResourceScope = "user" | "project" | "temporary" | "package";

export interface ResourcePlace {
  readonly path: string;
  readonly scope: ResourceScope;
  /** Named by a setting or a flag: its absence is worth a diagnostic. */
  readonly isNamed: boolean;
  /** Which of its files count; all when it is not said. */
  readonly includes?: (path: string) => boolean;
}

/** The folders a session's text resources come from. */
export interface ResourceDirs {
  readonly agentDirectory: string;
  readonly cwd: string;
  /** The user's home, for `~` and `~/.agents`. */
  readonly homeDirectory: string;
}

export interface LoadOptions {
  /** Leaves the standard folders out. */
  readonly onlyNamed?: boolean;
  readonly excludes?: (path: string) => boolean;
}

/** `dir` and the folders above it, nearest first. */
export function ancestorsOf(dir: string): string[] {
  const found = [resolve(dir)];
  for (;;) {
    const last = found.at(-1) ?? dir;
    const parent = dirname(last);
    if (parent === last) return found;
    found.push(parent);
  }
}

/** `path` made absolute from `baseDirectory`, with `~` as the home folder. */
export function absolutePath(path: string, baseDirectory: string, homeDirectory: string): string {
  if (path === "~") return homeDirectory;
  if (/^~[/\\]/.test(path)) return join(homeDirectory, path.slice(2));
  return isAbsolute(path) ? path : resolve(baseDirectory, path);
}

/** The path with links followed; the path itself when that fails. */
export async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    return path;
  }
}

/** What is at `path`; links are followed. */
export async function kindOf(path: string): Promise<"file" | "directory" | "other" | "missing"> {
  try {
    const found = await stat(path);
    if (found.isFile()) return "file";
    return found.isDirectory() ? "directory" : "other";
  } catch {
    return "missing";
  }
}

/** The nearest folder above `cwd` (or `cwd`) that holds a `.git`, and the repository a worktree belongs to. */
export async function findGitRoot(
  cwd: string,
): Promise<{ root: string; mainRoot: string | undefined } | undefined> {
  for (const dir of ancestorsOf(cwd)) {
    const marker = join(dir, ".git");
    const kind = await kindOf(marker);
    if (kind === "directory") return { root: dir, mainRoot: undefined };
    if (kind !== "file") continue;
    const text = await readFile(marker, "utf8").catch(() => "");
    const gitDir = /^gitdir:\s*(.+?)\s*$/m.exec(text)?.[1];
    const main = gitDir && /^(.*)[/\\]\.git[/\\]worktrees[/\\][^/\\]+$/.exec(resolve(dir, gitDir));
    return { root: dir, mainRoot: main?.[1] };
  }
  return undefined;
}

/** What a settings list names, and what it leaves out. */
export interface SettingPlaces {
  readonly places: readonly ResourcePlace[];
  /** Whether an entry `-path` or `!pattern` keeps this file out. */
  readonly excludes: (path: string) => boolean;
}

/**
 * Reads a settings list: a path or a glob names a place, `!pattern` leaves files out, `+path` names
 * one that no pattern leaves out, and `-path` wins over all.
 */
export function settingPlaces(
  entries: readonly ResourceEntry[],
  homeDirectory: string,
): SettingPlaces {
  const places: ResourcePlace[] = [];
  const rules: { readonly mark: string; readonly fits: (file: string) => boolean }[] = [];
  for (const { entry, scope, baseDirectory } of entries) {
    const mark = /^[-+!]/.exec(entry)?.[0] ?? "";
    const given = entry.slice(mark.length);
    const path = absolutePath(given, baseDirectory, homeDirectory);
    if (mark === "" || mark === "+") places.push({ path, scope, isNamed: true });
    const isInside = (file: string): boolean => file === path || file.startsWith(`${path}${sep}`);
    // A pattern also fits from anywhere, and one without a folder files of that name.
    const globs = mark === "!" || mark === "-" ? [path, given].map(createGlob) : [];
    const fitsName = mark === "!" && !given.includes("/") ? createGlob(given) : () => false;
    const fits = (file: string): boolean =>
      isInside(file) || globs.some((glob) => glob(file)) || fitsName(basename(file));
    rules.push({ mark, fits });
  }
  const fitsOne = (mark: string, file: string): boolean =>
    rules.some((rule) => rule.mark === mark && rule.fits(file));
  const excludes = (file: string): boolean =>
    fitsOne("-", file) || (fitsOne("!", file) && !fitsOne("+", file));
  return { places, excludes };
}

/** Levels below a glob's first wildcard that `**` reaches. */
const maxGlobLevels = 8;

/** The places that globs among the paths stand for: folders, and Markdown files outside of them. */
export async function expandPlaces(places: readonly ResourcePlace[]): Promise<ResourcePlace[]> {
  const expanded = await Promise.all(
    places.map(async (place) => {
      if (!/[*?[]/.test(place.path)) return [place];
      const paths = await pathsOf(place.path);
      return paths.map((path) => ({ ...place, path }));
    }),
  );
  return expanded.flat();
}

async function pathsOf(glob: string): Promise<string[]> {
  const fits = createGlob(glob);
  let folder = glob;
  while (/[*?[]/.test(folder)) folder = dirname(folder);
  const levels = glob.slice(folder.length).split(/[/\\]/).length;
  const last = levels + (glob.includes("**") ? maxGlobLevels : 0);
  const found: string[] = [];
  const visit = async (current: string, level: number): Promise<void> => {
    const names = await readdir(current).catch(() => []);
    for (const name of names.sort()) {
      if (name.startsWith(".") || name === "node_modules") continue;
      const path = join(current, name);
      const kind = await kindOf(path);
      if (fits(path) && (kind === "directory" || name.endsWith(".md"))) found.push(path);
      else if (kind === "directory" && level < last) await visit(path, level + 1);
    }
  };
  await visit(folder, 1);
  return found;
}
