import type { Dirent } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { unlessLimited } from "../../base/files/file-error.ts";
import { type IgnoreRules, readIgnoreRules } from "../../base/files/ignore-rules.ts";
import { toPosix } from "./paths.ts";

const maxRulesBytes = 1024 * 1024;

/** Something found by {@link walk}; `path` is posix and relative to the root. */
export interface WalkEntry {
  readonly path: string;
  readonly isDirectory: boolean;
  readonly isFile: boolean;
}

/** How to walk. */
export interface WalkOptions {
  readonly signal: AbortSignal;
  readonly canEnter?: (directory: string) => boolean;
}

/** Rules of one directory; those of directories further up come after them. */
interface Rules {
  readonly directory: string;
  readonly rulesOn: IgnoreRules;
  readonly parent: Rules | undefined;
}

/**
 * Everything below a directory, ordered by name, without what git would ignore. Rules of a
 * directory apply below it only; a nested repository starts over. Unreadable directories are
 * skipped, links are not followed.
 */
export async function* walk(root: string, options: WalkOptions): AsyncGenerator<WalkEntry> {
  yield* walkDirectory({ root, directory: root, rules: await outerRules(root) }, options);
}

interface Place {
  readonly root: string;
  readonly directory: string;
  readonly rules: Rules | undefined;
}

async function* walkDirectory(place: Place, options: WalkOptions): AsyncGenerator<WalkEntry> {
  options.signal.throwIfAborted();
  const entries = await readdir(place.directory, { withFileTypes: true }).catch(unlessLimited([]));
  const rules = await rulesOf(place.directory, entries, place.rules);
  entries.sort((left, right) => (left.name < right.name ? -1 : 1));
  for (const entry of entries) {
    if (entry.name === ".git") continue;
    const full = join(place.directory, entry.name);
    const isDirectory = entry.isDirectory();
    if (isIgnored(full, isDirectory, rules)) continue;
    const path = toPosix(relative(place.root, full));
    yield { path, isDirectory, isFile: entry.isFile() };
    if (isDirectory && options.canEnter?.(path) !== false) {
      yield* walkDirectory({ root: place.root, directory: full, rules }, options);
    }
  }
}

function isIgnored(path: string, isDirectory: boolean, rules: Rules | undefined): boolean {
  for (let level = rules; level !== undefined; level = level.parent) {
    const below = toPosix(relative(level.directory, path));
    const verdict = level.rulesOn(below, isDirectory);
    if (verdict !== undefined) return verdict === "ignored";
  }
  return false;
}

async function rulesOf(
  directory: string,
  entries: readonly Dirent[],
  parent: Rules | undefined,
): Promise<Rules | undefined> {
  const names = new Set(entries.map(({ name }) => name));
  const isRepository = names.has(".git");
  const outer = isRepository ? undefined : parent;
  const texts: string[] = [];
  if (isRepository) texts.push(await textOf(join(directory, ".git", "info", "exclude")));
  for (const name of [".gitignore", ".ignore"]) {
    if (names.has(name)) texts.push(await textOf(join(directory, name)));
  }
  if (texts.every((text) => text === "")) return outer;
  return { directory, rulesOn: readIgnoreRules(texts.join("\n")), parent: outer };
}

/** The rules from the repository's top down to above `root`; none outside of a repository. */
async function outerRules(root: string): Promise<Rules | undefined> {
  const listings: { directory: string; entries: Dirent[] }[] = [];
  let isInRepository = false;
  for (let directory = root; ; directory = dirname(directory)) {
    const entries = await readdir(directory, { withFileTypes: true }).catch(unlessLimited([]));
    if (directory !== root) listings.unshift({ directory, entries });
    isInRepository = entries.some(({ name }) => name === ".git");
    if (isInRepository || directory === dirname(directory)) break;
  }
  if (!isInRepository) return undefined;
  let rules: Rules | undefined;
  for (const { directory, entries } of listings) rules = await rulesOf(directory, entries, rules);
  return rules;
}

/** A repository may name anything so: a pipe would never end, a huge file would fill the memory. */
async function textOf(file: string): Promise<string> {
  const found = await stat(file).catch(unlessLimited(undefined));
  if (!found?.isFile() || found.size > maxRulesBytes) return "";
  return readFile(file, "utf8").catch(unlessLimited(""));
}
