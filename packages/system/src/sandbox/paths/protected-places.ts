import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { attempt } from "../../base/attempt.ts";
import { isInside } from "../../base/files/isolated-tree.ts";
import { resolveLinks } from "./resolve-links.ts";

/** Places in the working folder that are protected from changes. */
export interface ProtectedPlaces {
  /** Read-only paths. */
  readonly readOnly: readonly string[];
  /** Folders around them, which must not be moved. */
  readonly kept: readonly string[];
  /** The protected places that do not exist. */
  readonly missing: readonly MissingPlace[];
  /** Links, whose targets must stay the same. */
  readonly links: readonly string[];
}

/** Further facts about the working folder. */
export interface ProtectedPlacesOptions {
  /** The repository of an isolated tree, which is outside of the tree. */
  readonly treeRepository?: string | undefined;
  /** Whether a place exists only for a running command; it counts as missing. */
  readonly isPlaceholder?: (path: string) => boolean;
}

export interface MissingPlace {
  readonly path: string;
  /** Content that makes the file have no effect; undefined for a folder. */
  readonly content: string | undefined;
}

/** More than the longest branch name. */
const MAX_HEAD_BYTES = 64 * 1024;

/** Deeper than the name of any submodule. */
const MAX_DEPTH = 12;

/** Files of a git directory that decide what git runs, and the content of their placeholders. */
const gitFiles: ReadonlyMap<string, string> = new Map([
  ["config", ""],
  ["config.worktree", ""],
  // An empty file would stop git; this one names the directory itself.
  ["commondir", ".\n"],
]);

/**
 * Places in the working folder that decide which code runs later outside of the sandbox, and so are read-only
 * whether they exist or not: git's settings and hooks, and the configuration of this host (decision 47).
 *
 * @param cwd the real path of the working folder
 * @param named paths that settings add
 */
export function protectedPlaces(
  cwd: string,
  named: readonly string[],
  { treeRepository, isPlaceholder }: ProtectedPlacesOptions = {},
): ProtectedPlaces {
  const found = new Collector(isPlaceholder);
  found.folder(join(cwd, ".pi"));
  // A folder as placeholder if it is missing: git would add a file to the index.
  found.folder(join(cwd, ".mcp.json"));
  found.repository(join(cwd, ".git"), cwd);
  if (treeRepository !== undefined) found.repository(treeRepository, cwd);
  // Outer paths first: they protect everything inside.
  for (const path of named.toSorted()) found.named(path, cwd);
  return found;
}

/** Whether a real path below the working folder is one of {@link protectedPlaces}. */
export function isProtectedPlace(cwd: string, path: string, named: readonly string[]): boolean {
  if (isInside(join(cwd, ".pi"), path) || path === join(cwd, ".mcp.json")) return true;
  if (named.some((each) => isInside(each, path))) return true;
  // With this file, the folder itself would become a repository.
  if (path === join(cwd, "HEAD")) return true;
  if (isBareRepository(cwd) && isGitCode(cwd, path)) return true;
  const git = join(cwd, ".git");
  const status = statusOf(git);
  if (status === undefined) return isInside(git, path);
  if (!status.isDirectory() && path === git) return true;
  const directory = status.isDirectory() ? git : gitDirectoryOf(git, cwd);
  return directory !== undefined && isInside(directory, path) && isGitCode(directory, path);
}

/** Paths below the working folder for which {@link isProtectedPlace} is true, with everything inside them. */
export function hostPlacesIn(cwd: string, named: readonly string[]): readonly string[] {
  const git = join(cwd, ".git");
  const isFolder = statusOf(git)?.isDirectory() === true;
  const directory = isFolder ? git : gitDirectoryOf(git, cwd);
  return [
    ...[".pi", ".mcp.json", "HEAD"].map((name) => join(cwd, name)),
    ...named,
    ...(isFolder ? [] : [git]),
    ...(directory === undefined ? [] : gitCodeIn(directory)),
    ...(isBareRepository(cwd) ? gitCodeIn(cwd) : []),
  ];
}

function gitCodeIn(directory: string): readonly string[] {
  const names = [...gitFiles.keys(), "hooks", "worktrees"];
  const modules = modulesIn(join(directory, "modules"));
  return [...names.map((name) => join(directory, name)), ...modules.flatMap(gitCodeIn)];
}

function isGitCode(directory: string, path: string): boolean {
  const parts = path.slice(directory.length + 1).split("/");
  const [first = "", ...rest] = parts;
  if (first === "hooks" || first === "worktrees" || (rest.length === 0 && gitFiles.has(first)))
    return true;
  if (first !== "modules") return false;
  // A module's name may have several parts; a missing module must not be created.
  const last = rest.at(-1) ?? "";
  return rest.includes("hooks") || gitFiles.has(last) || !isInModule(directory, rest);
}

function isInModule(directory: string, parts: readonly string[]): boolean {
  return parts.some(
    (_, index) =>
      statusOf(join(directory, "modules", ...parts.slice(0, index + 1), "HEAD")) !== undefined,
  );
}

class Collector implements ProtectedPlaces {
  readonly readOnly: string[] = [];
  readonly kept: string[] = [];
  readonly missing: MissingPlace[] = [];
  readonly links: string[] = [];
  readonly #isPlaceholder: (path: string) => boolean;

  constructor(isPlaceholder: (path: string) => boolean = () => false) {
    this.#isPlaceholder = isPlaceholder;
  }

  folder(path: string): void {
    this.#place(path, undefined);
  }

  file(path: string, content: string): void {
    this.#place(path, content);
  }

  /** @param git the path of the folder's repository, existing or not */
  repository(git: string, cwd: string): void {
    const status = this.#statusOf(git);
    const isDirectory = status?.isDirectory() === true;
    if (!isDirectory) this.#place(git, undefined);
    const directory = isDirectory ? git : status && gitDirectoryOf(git, cwd);
    if (directory !== undefined) this.#gitDirectory(directory);
    if (isBareRepository(cwd)) this.#gitDirectory(cwd);
  }

  /** Adds a path that a setting names, unless it is inside a protected place. */
  named(path: string, cwd: string): void {
    if (this.readOnly.some((each) => isInside(each, path))) return;
    const place = firstMissing(path);
    this.#place(place, undefined);
    // If a folder on the path could be moved, something else could take its place.
    for (let at = dirname(place); at !== cwd && isInside(cwd, at); at = dirname(at)) {
      if (!this.kept.includes(at)) this.kept.push(at);
    }
  }

  #gitDirectory(directory: string): void {
    const names = [...gitFiles.keys(), "hooks", "worktrees", "modules"];
    if (names.some((name) => statusOf(join(directory, name))?.isSymbolicLink())) {
      // The target of a link in it could be replaced by anything.
      this.readOnly.push(directory);
      return;
    }
    this.kept.push(directory);
    for (const [name, content] of gitFiles) this.file(join(directory, name), content);
    this.folder(join(directory, "hooks"));
    this.folder(join(directory, "worktrees"));
    this.folder(join(directory, "modules"));
    for (const module of modulesIn(join(directory, "modules"))) this.#gitDirectory(module);
  }

  #place(path: string, content: string | undefined): void {
    const status = this.#statusOf(path);
    if (status?.isSymbolicLink()) {
      this.links.push(path);
      return;
    }
    if (status === undefined) this.missing.push({ path, content });
    this.readOnly.push(path);
  }

  #statusOf(path: string): Stats | undefined {
    return this.#isPlaceholder(path) ? undefined : statusOf(path);
  }
}

/**
 * Whether git takes the folder itself for a repository, or would if the missing files were added: a bare
 * repository has no `.git`.
 */
export function isBareRepository(folder: string): boolean {
  const head = join(folder, "HEAD");
  try {
    const status = lstatSync(head);
    if (status.isSymbolicLink()) return readlinkSync(head).startsWith("refs/");
    if (!status.isFile() || status.size > MAX_HEAD_BYTES) return false;
    return /^(?:ref:\s*refs\/|[0-9a-f]{40})/.test(readFileSync(head, "utf8"));
  } catch {
    return false;
  }
}

/** The git directory that a file or link points to, if it is inside the folder. */
function gitDirectoryOf(git: string, cwd: string): string | undefined {
  const target = statusOf(git)?.isSymbolicLink() ? git : linkedDirectory(git);
  if (target === undefined) return undefined;
  const { path } = resolveLinks(target);
  return isInside(cwd, path) && path !== cwd && statusOf(path)?.isDirectory() ? path : undefined;
}

function linkedDirectory(file: string): string | undefined {
  try {
    const [, target] = /^gitdir:\s*(.+?)\s*$/m.exec(readFileSync(file, "utf8")) ?? [];
    return target === undefined ? undefined : resolve(dirname(file), target);
  } catch {
    return undefined;
  }
}

/** The git directories of submodules; their names may contain slashes. */
function modulesIn(folder: string, depth = 0): string[] {
  if (depth > MAX_DEPTH) return [];
  let names: string[];
  try {
    names = readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    );
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const path = join(folder, name);
    return statusOf(join(path, "HEAD")) === undefined ? modulesIn(path, depth + 1) : [path];
  });
}

/** A path, or the first folder on the path that does not exist. */
function firstMissing(path: string): string {
  const parent = dirname(path);
  return statusOf(path) || statusOf(parent) ? path : firstMissing(parent);
}

function statusOf(path: string): Stats | undefined {
  return attempt(() => lstatSync(path, { throwIfNoEntry: false }));
}
