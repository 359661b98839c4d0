import type { WorkspaceEntry } from "@tau-agent/rpc-protocol/workspace";
import { type IgnoreRules, readIgnoreRules } from "../../base/files/ignore-rules.ts";

const maxRulesBytes = 1024 * 1024;
const readsAhead = 16;

/** The file access that a walk needs. Paths have slashes. */
export interface WalkSource {
  /** The entries of a folder; none if it cannot be read. */
  list(folder: string): Promise<readonly WorkspaceEntry[]>;
  /** The text of a small file; empty if it is missing, not a regular file, or larger than the limit. */
  text(file: string, maxBytes: number): Promise<string>;
}

/** Something found by {@link walk}; `path` is posix and relative to the root. */
export interface WalkEntry {
  readonly path: string;
  readonly isDirectory: boolean;
  readonly isFile: boolean;
}

/** How to walk. */
export interface WalkOptions {
  readonly source: WalkSource;
  readonly signal?: AbortSignal | undefined;
  readonly canEnter?: (directory: string) => boolean;
}

/** A directory's path with forward slashes, including a final one, so that paths can be joined with `+`. */
type Prefix = string;

/** The rules of one directory; the rules of its parents come after them. */
interface Rules {
  readonly prefix: Prefix;
  readonly rulesOn: IgnoreRules;
  readonly parent: Rules | undefined;
}

/** A directory that is being walked. */
interface Place {
  readonly prefix: Prefix;
  readonly entries: readonly WorkspaceEntry[];
  readonly rules: Rules | undefined;
  /** The next entry to visit. */
  next: number;
  /** Reads in progress for its directories; `ahead` is the entry up to which reads have been started. */
  readonly reads: Map<Prefix, Promise<readonly WorkspaceEntry[]>>;
  ahead: number;
}

/**
 * Everything below a directory, ordered by name, without what git would ignore. Rules of a directory apply below it
 * only; a nested repository has only its own rules. Unreadable directories are skipped, links are not followed.
 *
 * Yields lists, because yielding each entry separately takes longer than finding it (row `find`).
 */
export async function* walk(
  root: string,
  options: WalkOptions,
): AsyncGenerator<readonly WalkEntry[]> {
  const { source } = options;
  const rootPrefix = prefixOf(root);
  const outer = await outerRules(root, source);
  const open = [await placeOf(rootPrefix, { entries: source.list(root), outer, source })];
  for (let place = open.at(-1); place !== undefined; place = open.at(-1)) {
    options.signal?.throwIfAborted();
    const { found, enter } = takeEntries(place, rootPrefix.length, options);
    if (found.length > 0) yield found;
    if (enter === undefined) {
      open.pop();
      continue;
    }
    const entries = place.reads.get(enter) ?? source.list(enter);
    place.reads.delete(enter);
    readAhead(place, rootPrefix.length, options);
    open.push(await placeOf(enter, { entries, outer: place.rules, source }));
  }
}

async function placeOf(
  prefix: Prefix,
  read: {
    readonly entries: Promise<readonly WorkspaceEntry[]>;
    readonly outer: Rules | undefined;
    readonly source: WalkSource;
  },
): Promise<Place> {
  const entries = (await read.entries).toSorted((left, right) => (left.name < right.name ? -1 : 1));
  const rules = await rulesOf({ prefix, entries, parent: read.outer }, read.source);
  return { prefix, entries, rules, next: 0, reads: new Map(), ahead: 0 };
}

/** Starts to read the next directories: a thread reads them while this one processes names (row `find`). */
function readAhead(place: Place, rootLength: number, { canEnter, source }: WalkOptions): void {
  place.ahead = Math.max(place.ahead, place.next);
  while (place.reads.size < readsAhead && place.ahead < place.entries.length) {
    const entry = place.entries[place.ahead++];
    if (entry?.kind !== "directory" || entry.name === ".git") continue;
    const full = place.prefix + entry.name;
    if (isIgnored(full, true, place.rules) || canEnter?.(full.slice(rootLength)) === false)
      continue;
    const read = source.list(`${full}/`);
    // The walk may end before it gets to this directory.
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
    const isDirectory = entry.kind === "directory";
    if (isIgnored(full, isDirectory, place.rules)) continue;
    const path = full.slice(rootLength);
    found.push({ path, isDirectory, isFile: entry.kind === "file" });
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
  return directory.endsWith("/") ? directory : `${directory}/`;
}

interface Listing {
  readonly prefix: Prefix;
  readonly entries: readonly WorkspaceEntry[];
  readonly parent: Rules | undefined;
}

async function rulesOf(
  { prefix, entries, parent }: Listing,
  source: WalkSource,
): Promise<Rules | undefined> {
  const has = (wanted: string) => entries.some(({ name }) => name === wanted);
  const isRepository = has(".git");
  const outer = isRepository ? undefined : parent;
  const files = isRepository ? [".git/info/exclude"] : [];
  for (const name of [".gitignore", ".ignore"]) if (has(name)) files.push(name);
  if (files.length === 0) return outer;
  const texts = await Promise.all(files.map((name) => source.text(prefix + name, maxRulesBytes)));
  if (texts.every((text) => text === "")) return outer;
  return { prefix, rulesOn: readIgnoreRules(texts.join("\n")), parent: outer };
}

/** The rules from the repository's top down to the parent of `root`; none outside of a repository. */
async function outerRules(root: string, source: WalkSource): Promise<Rules | undefined> {
  const listings: { prefix: Prefix; entries: readonly WorkspaceEntry[] }[] = [];
  let isInRepository = false;
  for (let directory: string | undefined = root; directory !== undefined; ) {
    const entries = await source.list(directory);
    if (directory !== root) listings.unshift({ prefix: prefixOf(directory), entries });
    isInRepository = entries.some(({ name }) => name === ".git");
    if (isInRepository) break;
    directory = parentOf(directory);
  }
  if (!isInRepository) return undefined;
  let rules: Rules | undefined;
  for (const listing of listings) rules = await rulesOf({ ...listing, parent: rules }, source);
  return rules;
}

/** Undefined for a root: `/` or `C:/`. */
function parentOf(directory: string): string | undefined {
  const at = directory.replace(/\/+$/, "").lastIndexOf("/");
  if (at === -1) return undefined;
  return directory.slice(0, at) || "/";
}
