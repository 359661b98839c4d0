import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";
import { createGlob } from "../files/glob.ts";
import type { ResourceEntry } from "../settings/store.ts";

/** Who put a resource where it is. */
export type ResourceScope = "user" | "project" | "temporary";

/** A file or folder to look for resources in. */
export interface ResourcePlace {
  readonly path: string;
  readonly scope: ResourceScope;
  /** Named by a setting or a flag: its absence is worth a diagnostic. */
  readonly isNamed: boolean;
}

/** The folders a session's text resources come from. */
export interface ResourceDirs {
  readonly agentDir: string;
  readonly cwd: string;
  /** The user's home, for `~` and `~/.agents`. */
  readonly homeDir: string;
}

/** How much to look for. */
export interface LoadOptions {
  /** Leaves the standard folders out. */
  readonly onlyNamed?: boolean;
  /** Files that are left out, silently. */
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

/** `path` made absolute from `baseDir`, with `~` as the home folder. */
export function absolutePath(path: string, baseDir: string, homeDir: string): string {
  if (path === "~") return homeDir;
  if (/^~[/\\]/.test(path)) return join(homeDir, path.slice(2));
  return isAbsolute(path) ? path : resolve(baseDir, path);
}

/** The path with links followed; the path itself when that fails. */
export async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    return path;
  }
}

/** What stands at `path`, links followed. */
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

/** Reads a settings list: `path` and `+path` name a place, `-path` and `!pattern` leave files out. */
export function settingPlaces(entries: readonly ResourceEntry[], homeDir: string): SettingPlaces {
  const places: ResourcePlace[] = [];
  const exclusions: ((path: string) => boolean)[] = [];
  for (const { entry, scope, baseDir } of entries) {
    const mark = /^[-+!]/.exec(entry)?.[0] ?? "";
    const path = absolutePath(entry.slice(mark.length), baseDir, homeDir);
    if (mark === "-" || mark === "!") {
      const isMatch = createGlob(path);
      exclusions.push((file) => file.startsWith(`${path}${sep}`) || isMatch(file));
    } else places.push({ path, scope, isNamed: true });
  }
  return { places, excludes: (path) => exclusions.some((excludes) => excludes(path)) };
}
