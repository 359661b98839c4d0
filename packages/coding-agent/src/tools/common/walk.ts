import type { Dirent } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { type IgnoreRules, readIgnoreRules, unlessLimited } from "@tau-agent/system";
import { toPosix } from "./paths.ts";

const maxRulesBytes = 1024 * 1024;
const readsAhead = 3;

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

/** A directory's path with forward slashes and one at its end, so that paths are joined by `+`. */
type Prefix = string;

/** Rules of one directory; those of directories further up come after them. */
interface Rules {
  readonly prefix: Prefix;
  readonly rulesOn: IgnoreRules;
  readonly parent: Rules | undefined;
}

/** A directory on the way. */
interface Place {
  readonly prefix: Prefix;
  readonly entries: readonly Dirent[];
  readonly rules: Rules | undefined;
  /** The entry that has its turn. */
  next: number;
  /** Directories in it that are being read, and the entry up to which that was looked at. */
  readonly reads: Map<Prefix, Promise<Dirent[]>>;
  ahead: number;
}

/**
 * Everything below a directory, ordered by name, without what git would ignore. Rules of a
 * directory apply below it only; a nested repository starts over. Unreadable directories are
 * skipped, links are not followed.
 *
 * Yields lists, because handing over each entry by itself takes longer than finding it (row `find`).
 */
export async function* walk(
  root: string,
  options: WalkOptions,
): AsyncGenerator<readonly WalkEntry[]> {
  const rootPrefix = prefixOf(root);
  const open = [await placeOf(rootPrefix, readEntries(rootPrefix), await outerRules(root))];
  for (let place = open.at(-1); place !== undefined; place = open.at(-1)) {
    options.signal.throwIfAborted();
    const { found, enter } = takeEntries(place, rootPrefix.length, options);
    if (found.length > 0) yield found;
    if (enter === undefined) {
      open.pop();
      continue;
    }
    const entries = place.reads.get(enter) ?? readEntries(enter);
    place.reads.delete(enter);
    readAhead(place, rootPrefix.length, options);
    open.push(await placeOf(enter, entries, place.rules));
  }
}

function readEntries(prefix: Prefix): Promise<Dirent[]> {
  return readdir(prefix, { withFileTypes: true }).catch(unlessLimited([]));
}

async function placeOf(
  prefix: Prefix,
  read: Promise<Dirent[]>,
  outer: Rules | undefined,
): Promise<Place> {
  const entries = await read;
  entries.sort((left, right) => (left.name < right.name ? -1 : 1));
  const rules = await rulesOf(prefix, entries, outer);
  return { prefix, entries, rules, next: 0, reads: new Map(), ahead: 0 };
}

/** Starts to read the next directories: a thread reads them while this one looks at names (row `find`). */
function readAhead(place: Place, rootLength: number, { canEnter }: WalkOptions): void {
  place.ahead = Math.max(place.ahead, place.next);
  while (place.reads.size < readsAhead && place.ahead < place.entries.length) {
    const entry = place.entries[place.ahead++];
    if (entry?.isDirectory() !== true || entry.name === ".git") continue;
    const full = place.prefix + entry.name;
    if (isIgnored(full, true, place.rules) || canEnter?.(full.slice(rootLength)) === false)
      continue;
    const read = readEntries(`${full}/`);
    // The walk may end before it gets there.
    read.catch(() => {});
    place.reads.set(`${full}/`, read);
  }
}

/** The entries up to the next directory to enter, or to the end. */
function takeEntries(
  place: Place,
  rootLength: number,
  { canEnter }: WalkOptions,
): { found: WalkEntry[]; enter?: Prefix } {
  const found: WalkEntry[] = [];
  while (place.next < place.entries.length) {
    const entry = place.entries[place.next++];
    if (entry === undefined || entry.name === ".git") continue;
    const full = place.prefix + entry.name;
    const isDirectory = entry.isDirectory();
    if (isIgnored(full, isDirectory, place.rules)) continue;
    const path = full.slice(rootLength);
    found.push({ path, isDirectory, isFile: entry.isFile() });
    if (isDirectory && canEnter?.(path) !== false) return { found, enter: `${full}/` };
  }
  return { found };
}

function isIgnored(path: string, isDirectory: boolean, rules: Rules | undefined): boolean {
  for (let level = rules; level !== undefined; level = level.parent) {
    const verdict = level.rulesOn(path.slice(level.prefix.length), isDirectory);
    if (verdict !== undefined) return verdict === "ignored";
  }
  return false;
}

function prefixOf(directory: string): Prefix {
  const posix = toPosix(directory);
  return posix.endsWith("/") ? posix : `${posix}/`;
}

async function rulesOf(
  prefix: Prefix,
  entries: readonly Dirent[],
  parent: Rules | undefined,
): Promise<Rules | undefined> {
  const has = (wanted: string) => entries.some(({ name }) => name === wanted);
  const isRepository = has(".git");
  const outer = isRepository ? undefined : parent;
  const texts: string[] = [];
  if (isRepository) texts.push(await textOf(`${prefix}.git/info/exclude`));
  for (const name of [".gitignore", ".ignore"]) {
    if (has(name)) texts.push(await textOf(prefix + name));
  }
  if (texts.every((text) => text === "")) return outer;
  return { prefix, rulesOn: readIgnoreRules(texts.join("\n")), parent: outer };
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
  for (const { directory, entries } of listings) {
    rules = await rulesOf(prefixOf(directory), entries, rules);
  }
  return rules;
}

/** A repository may name anything so: a pipe would never end, a huge file would fill the memory. */
async function textOf(file: string): Promise<string> {
  const found = await stat(file).catch(unlessLimited(undefined));
  if (!found?.isFile() || found.size > maxRulesBytes) return "";
  return readFile(file, "utf8").catch(unlessLimited(""));
}
