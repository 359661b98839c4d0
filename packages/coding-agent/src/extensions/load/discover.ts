import { type Dirent, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import {
  attempt,
  createGlob,
  type Diagnostic,
  type ResourceEntry,
  readJsonFile,
} from "@tau-agent/system";
import { droppedByPolicy } from "../../policy/policy-denied.ts";
import type { SessionPolicy } from "../../policy/session-policy.ts";
import { kindHere } from "../../resources/files/kind-here.ts";
import { absolutePath } from "../../resources/files/places.ts";
import type { InstalledPackage } from "../../resources/packages/find-packages.ts";

type ExtensionScope = "user" | "project" | "temporary";

export interface ExtensionFile {
  /** The path as found, without following links. */
  readonly path: string;
  /** The real path, which determines where dependencies are looked up. */
  readonly realPath: string;
  readonly scope: ExtensionScope;
  readonly package?: PackageName | undefined;
  /** Set if `-e` or the settings name it: a session must not start without such an extension. */
  readonly isNamed?: true;
}

/** The name of a package: its source in the settings, and its folder. */
interface PackageName {
  readonly source: string;
  readonly root: string;
}

/** The extensions found, by descending precedence, and the problems. */
export interface DiscoveredExtensions {
  readonly files: readonly ExtensionFile[];
  readonly diagnostics: readonly Diagnostic[];
  /** Files and folders that settings and packages name; they may not exist. */
  readonly places: readonly string[];
  /** Packages that the user named and only the project has: errors unless the project is trusted. */
  readonly untrusted: readonly Diagnostic[];
}

export interface DiscoverOptions {
  readonly agentDirectory: string;
  readonly cwd: string;
  readonly homeDirectory: string;
  /** The base of relative `paths`; default `cwd`. */
  readonly baseDirectory?: string | undefined;
  readonly paths: readonly string[];
  /** Entries of the setting `extensions`; those of the project only once it is trusted. */
  readonly entries: readonly ResourceEntry[];
  readonly onlyNamed: boolean;
  /** Finds installed packages, if the settings or a path of `-e` name any. */
  readonly packages?: PackageFinder | undefined;
  /** Which part to discover: the user's own, or a trusted project's. */
  readonly part: "own" | "project";
  /** A folder in which sandboxed commands can create files, which must not become extensions. */
  readonly changeable?: string | undefined;
  /** Limits which extensions are allowed. */
  readonly policy?: Pick<SessionPolicy, "allowsExtension"> | undefined;
}

export interface PackageFinder {
  all(): Promise<readonly InstalledPackage[]>;
  /** The package of `npm:…` or `git:…`, or why it is missing. */
  named(source: string, isProjectTrusted: boolean): Promise<InstalledPackage | Diagnostic>;
}

interface Search {
  readonly found: Map<string, ExtensionFile>;
  readonly places: string[];
  readonly diagnostics: Diagnostic[];
  readonly excludes: (path: string) => boolean;
  readonly package?: PackageName | undefined;
  readonly isNamed?: boolean;
  readonly changeable?: string | undefined;
}

/**
 * Finds extension files: first those of `-e`, then those of the settings, then those in the standard folder. Each real
 * file counts once. Never rejects. If there are none, it costs one directory read.
 */
export async function discoverExtensions(options: DiscoverOptions): Promise<DiscoveredExtensions> {
  const discovered = await discoverAll(options);
  const { policy } = options;
  if (policy === undefined) return discovered;
  const isAllowed = ({ path, realPath, package: from }: ExtensionFile) =>
    policy.allowsExtension(path, from?.source) && policy.allowsExtension(realPath, from?.source);
  const files = discovered.files.filter(isAllowed);
  const refused = discovered.files.filter((file) => !isAllowed(file)).map(refusal);
  return { ...discovered, files, diagnostics: [...discovered.diagnostics, ...refused] };
}

/** An extension named by `-e` fails the start; a discovered one, or one from settings, is left out. */
function refusal({ path, scope, isNamed }: ExtensionFile): Diagnostic {
  const dropped = droppedByPolicy("extensions", `${path} is not loaded.`);
  const isOption = isNamed === true && scope === "temporary";
  return isOption ? { ...dropped, message: `${path} is not loaded`, isFatal: true } : dropped;
}

async function discoverAll(options: DiscoverOptions): Promise<DiscoveredExtensions> {
  const { agentDirectory, cwd, baseDirectory = cwd, homeDirectory, part } = options;
  const found = new Map<string, ExtensionFile>();
  const diagnostics: Diagnostic[] = [];
  const places: string[] = [];
  const { changeable } = options;
  const all: Search = { found, places, diagnostics, excludes: () => false, changeable };
  const named: Search = { ...all, isNamed: true };
  const untrusted: Diagnostic[] = [];
  for (const path of options.paths) {
    const { packages } = options;
    if (packages !== undefined && isSource(path)) {
      const installed = await packages.named(path, false);
      const isDeferred = "message" in installed && installed.isFatal === "untrusted";
      if (!isDeferred && part === "own") await addSource(named, installed);
      else if (isDeferred && part === "own") untrusted.push(installed);
      else if (isDeferred) await addSource(named, await packages.named(path, true));
    } else if (part === "own") {
      const absolute = absolutePath(path, baseDirectory, homeDirectory);
      // A folder is a package: its manifest or the names of its subfolders determine what it contains.
      if (packages === undefined || kindHere(absolute) !== "directory") {
        await addNamed(named, absolute, "temporary");
      } else await addSource(named, await packages.named(absolute, false));
    }
  }
  if (options.onlyNamed) return { files: [...found.values()], places, diagnostics, untrusted };
  const scope = part === "own" ? "user" : "project";
  const entries = options.entries.filter((entry) => entry.scope === scope);
  const rules = readRules(entries, homeDirectory);
  for (const path of rules.forced) await addNamed(named, path, scope);
  const search: Search = { ...all, excludes: rules.excludes };
  for (const path of rules.places) {
    if (/[*?[]/.test(path)) await addMatching(search, path, scope);
    else await addNamed({ ...search, isNamed: true }, path, scope);
  }
  const folders = part === "own" ? [agentDirectory] : [join(cwd, ".pi"), join(cwd, ".pi", "agent")];
  for (const folder of folders) {
    if (part === "own" || resolve(folder) !== resolve(agentDirectory)) {
      await addFolder(search, join(folder, "extensions"), scope);
    }
  }
  for (const found of (await options.packages?.all()) ?? []) {
    if (found.scope === scope) await addInstalled(search, found, scope);
  }
  return { files: [...found.values()], places, diagnostics, untrusted };
}

function isSource(path: string): boolean {
  return /^(npm|git|https?|ssh):/.test(path);
}

async function addSource(search: Search, found: InstalledPackage | Diagnostic): Promise<void> {
  if ("message" in found) {
    search.diagnostics.push({ ...found, severity: "error", isFatal: true });
  } else await addInstalled(search, found, "temporary");
}

async function addInstalled(
  search: Search,
  { source, root, parts }: InstalledPackage,
  scope: ExtensionScope,
): Promise<void> {
  const { places, includes } = parts.extensions;
  search.places.push(root, join(root, "package.json"));
  const within: Search = {
    ...search,
    package: { source, root },
    excludes: (path) => search.excludes(path) || !includes(path),
  };
  for (const place of places) {
    if (/[*?[]/.test(place)) await addMatching(within, place, scope);
    else await addNamed(within, place, scope);
  }
}

interface Rules {
  readonly places: readonly string[];
  readonly forced: readonly string[];
  readonly excludes: (path: string) => boolean;
}

/** `path` and globs include, `!glob` excludes, `+path` includes again, and `-path` takes precedence over all. */
function readRules(entries: readonly ResourceEntry[], homeDirectory: string): Rules {
  const places: string[] = [];
  const forced: string[] = [];
  const exclusions: ((path: string) => boolean)[] = [];
  for (const { entry, baseDirectory } of entries) {
    const mark = /^[-+!]/.exec(entry)?.[0] ?? "";
    const path = absolutePath(entry.slice(mark.length), baseDirectory, homeDirectory);
    if (mark === "") places.push(path);
    else if (mark === "+") forced.push(path);
    else {
      const pattern = entry.slice(1);
      // A pattern without a slash matches file names in any folder.
      const fitsName = pattern.includes("/") ? () => false : createGlob(pattern);
      const fitsPath = createGlob(path);
      exclusions.push((file) => isInside(file, path) || fitsPath(file) || fitsName(basename(file)));
    }
  }
  const removed = new Set(
    entries
      .filter(({ entry }) => entry.startsWith("-"))
      .map(({ entry, baseDirectory }) =>
        absolutePath(entry.slice(1), baseDirectory, homeDirectory),
      ),
  );
  return {
    places,
    forced: forced.filter((path) => !removed.has(path)),
    excludes: (path) => exclusions.some((excludes) => excludes(path)),
  };
}

function isInside(file: string, folder: string): boolean {
  return file.startsWith(`${folder}/`) || file.startsWith(`${folder}\\`);
}

/** Adds a named file, or a folder with a manifest, an index or files. */
async function addNamed(search: Search, path: string, scope: ExtensionScope): Promise<void> {
  const kind = kindHere(path);
  search.places.push(path);
  if (kind === "file") add(search, path, scope);
  else if (kind === "directory") {
    if (isChangeable(search, path, path)) return;
    if (!(await addPackage(search, path, scope))) await addFolder(search, path, scope);
  } else {
    const message = `There is no extension at ${path}`;
    const mark = search.isNamed ? { isFatal: true as const } : {};
    search.diagnostics.push({ severity: "error", message, path, ...mark });
  }
}

/** Whether sandboxed commands could add extensions to a folder, because it cannot be read-only as a whole. */
function isChangeable({ changeable, diagnostics }: Search, folder: string, entry: string): boolean {
  if (changeable === undefined || kindHere(folder) !== "directory") return false;
  const real = realpathSync(folder);
  const inside = realpathSync(changeable);
  if (real !== inside && !isInside(inside, real)) return false;
  const message = `${entry} would make extensions of files that commands in the sandbox write into ${changeable}. Name the files, or move them into a folder of their own`;
  diagnostics.push({ severity: "error", message, path: folder, isFatal: true });
  return true;
}

/** Adds the files of a folder, and packages one level below it. */
async function addFolder(search: Search, folder: string, scope: ExtensionScope): Promise<void> {
  for (const entry of list(folder)) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
    const kind = entry.isSymbolicLink()
      ? kindHere(path)
      : entry.isDirectory()
        ? "directory"
        : "file";
    if (kind === "file" && isModule(entry.name)) add(search, path, scope);
    if (kind === "directory") await addPackage(search, path, scope);
  }
}

/** Adds the entries that a folder declares, or its index; false if it has neither. */
async function addPackage(search: Search, folder: string, scope: ExtensionScope): Promise<boolean> {
  const manifest = await readJsonFile(join(folder, "package.json"));
  if (manifest.kind === "unreadable") search.diagnostics.push(manifest.diagnostic);
  const declared = manifest.kind === "object" ? declaredEntries(manifest.value) : undefined;
  if (declared !== undefined) {
    for (const entry of declared) {
      const path = resolve(folder, entry);
      if (/[*?[]/.test(entry)) await addMatching(search, path, scope);
      else if (kindHere(path) === "directory") await addFolder(search, path, scope);
      else await addNamed(search, path, scope);
    }
    return true;
  }
  const index = ["index.ts", "index.js"].find((name) => kindHere(join(folder, name)) === "file");
  if (index === undefined) return false;
  add(search, join(folder, index), scope);
  return true;
}

/** The `pi.extensions` of a package.json; undefined if there are none. */
function declaredEntries(manifest: Record<string, unknown>): string[] | undefined {
  for (const key of ["pi", "omp"]) {
    const section = manifest[key];
    if (!isJsonObject(section) || !Array.isArray(section.extensions)) continue;
    return section.extensions.filter((entry): entry is string => typeof entry === "string");
  }
  return undefined;
}

/** Adds files that match a glob, searching from its deepest folder without wildcards. */
async function addMatching(search: Search, glob: string, scope: ExtensionScope): Promise<void> {
  const fits = createGlob(glob);
  let folder = glob;
  while (/[*?[]/.test(folder)) folder = dirname(folder);
  search.places.push(folder);
  if (isChangeable(search, folder, glob)) return;
  const levels = glob.slice(folder.length).split(/[/\\]/).length + (glob.includes("**") ? 8 : 0);
  const visit = async (current: string, level: number): Promise<void> => {
    for (const entry of list(current)) {
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      const path = join(current, entry.name);
      const kind = kindHere(path);
      if (kind === "file" && isModule(entry.name) && fits(path)) add(search, path, scope);
      else if (kind === "directory" && level < levels) {
        if (!fits(path) || !(await addPackage(search, path, scope))) await visit(path, level + 1);
      }
    }
  };
  await visit(folder, 1);
}

function add(search: Search, path: string, scope: ExtensionScope): void {
  if (search.excludes(path)) return;
  const realPath = realpathSync(path);
  if (search.found.has(realPath)) return;
  const from = search.package === undefined ? {} : { package: search.package };
  const mark = search.isNamed ? { isNamed: true as const } : {};
  search.found.set(realPath, { path, realPath, scope, ...from, ...mark });
}

function isModule(name: string): boolean {
  return /\.(ts|js|mts|mjs|cjs|tsx)$/.test(name) && !/\.d\.m?ts$/.test(name);
}

function list(folder: string): Dirent[] {
  // Most extension folders do not exist, and a failed read costs more than this check.
  if (kindHere(folder) !== "directory") return [];
  const entries = attempt(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}
