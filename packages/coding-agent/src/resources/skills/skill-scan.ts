import type { WorkspaceEntry } from "@tau-agent/rpc-protocol/workspace";
import { type Diagnostic, type IgnoreRules, readIgnoreRules } from "@tau-agent/system";
import { askEach, type Disk, entriesOf, kindOfStat, lookAt } from "../files/disk.ts";
import type { TextBounds } from "../files/project-bounds.ts";
import {
  folderProblem,
  leftOut,
  reachOf,
  readBoundText,
  type TextOrigin,
} from "../files/text-bounds.ts";

export interface SkillCandidate {
  readonly path: string;
  /** A `SKILL.md` is always treated as a skill; other Markdown files only if they declare it. */
  readonly isSkillFile: boolean;
}

export interface SkillScan {
  readonly candidates: readonly SkillCandidate[];
  readonly diagnostics: readonly Diagnostic[];
}

interface ScanBounds {
  readonly disk: Disk;
  readonly origin: TextOrigin;
  readonly bounds: TextBounds;
}

/** Far more entries than any collection of skills has; they are read within a fraction of a second. */
const MAX_ENTRIES = 10_000;
const MAX_LEVELS = 12;
/** The time limit for slow and remote file systems. */
const MAX_MS = 2000;
const MAX_FAR_MS = 10_000;

interface Rules {
  readonly dir: string;
  readonly rulesOn: IgnoreRules;
}

/** The content of a folder, and its ignore rules. */
interface Folder {
  readonly real: string;
  readonly problem: string | undefined;
  readonly entries: readonly WorkspaceEntry[];
  /** The file that makes the folder a single skill. */
  readonly skillFile: string | undefined;
  readonly rules: readonly Rules[];
  readonly diagnostics: readonly Diagnostic[];
}

const ignoreFiles = [".gitignore", ".ignore", ".fdignore"];

/**
 * Finds skill files below `root`: a folder with a `SKILL.md` is one skill and is not searched further; with
 * `takesRootFiles`, Markdown files directly in `root` are candidates, too. Hidden names, `node_modules` and ignored
 * paths are left out. Links are followed, each folder once; a project's links only within the project. Stops after
 * {@link MAX_ENTRIES}, with a diagnostic.
 */
export async function scanForSkills(
  root: string,
  takesRootFiles: boolean,
  bounds: ScanBounds,
): Promise<SkillScan> {
  const candidates: SkillCandidate[] = [];
  const diagnostics: Diagnostic[] = [];
  const seen = new Set<string>();
  let entries = 0;
  let isOver = false;
  const disk = bounds.disk;
  const folders = createFolders(root, bounds);
  const maxMs = bounds.disk.isFar ? MAX_FAR_MS : MAX_MS;
  const deadline = performance.now() + maxMs;

  async function consider(
    { dir, name, kind }: { dir: string; name: string; kind: ReturnType<typeof kindOfStat> },
    rules: readonly Rules[],
  ): Promise<void> {
    const path = disk.path.join(dir, name);
    const isCandidate = takesRootFiles && dir === root && name.endsWith(".md");
    if (kind !== "directory" && !isCandidate) return;
    if (isIgnored(disk, path, kind === "directory", rules)) return;
    if (kind === "directory") {
      if (levelOf(disk, root, path) <= MAX_LEVELS) await visit(path, rules);
    } else if (kind !== "missing") candidates.push({ path, isSkillFile: false });
  }

  function mustStop(): boolean {
    if (isOver) return true;
    const isFull = entries >= MAX_ENTRIES;
    if (!isFull && performance.now() < deadline) return false;
    isOver = true;
    const reason = isFull
      ? `the search for skills stopped after ${MAX_ENTRIES} files and folders`
      : `the search for skills stopped after ${maxMs / 1000} seconds`;
    diagnostics.push(leftOut(root, `the rest of it; ${reason}`));
    return true;
  }

  async function visit(dir: string, above: readonly Rules[]): Promise<void> {
    const folder = await folders.open(dir, above);
    if (seen.has(folder.real)) return;
    seen.add(folder.real);
    if (folder.problem !== undefined) {
      diagnostics.push(leftOut(dir, folder.problem));
      return;
    }
    entries += folder.entries.length;
    if (folder.skillFile !== undefined) {
      candidates.push({ path: folder.skillFile, isSkillFile: true });
      return;
    }
    diagnostics.push(...folder.diagnostics);
    const kinds = askEach(folder.entries, disk, (entry) => folders.kindOf(dir, entry));
    for (const [index, { name }] of folder.entries.entries()) {
      if (isHidden(name) || mustStop()) continue;
      const kind = (await kinds[index]?.()) ?? "missing";
      await consider({ dir, name, kind }, folder.rules);
    }
  }

  await visit(root, []);
  return { candidates, diagnostics };
}

/**
 * Opens folders. On a remote disk, the folders below are opened ahead, so that a tree costs one round trip per level.
 */
function createFolders(root: string, bounds: ScanBounds) {
  const known = new Map<string, Promise<Folder>>();
  const seen = new Set<string>();
  let entryCounts = 0;
  const limits = bounds;

  async function open(dir: string, above: readonly Rules[]): Promise<Folder> {
    const { disk, origin, bounds } = limits;
    const looked = lookAt(disk, dir);
    const within = reachOf(dir, origin, bounds, disk);
    const isEarly = disk.isFar && within !== "unknown";
    const listed = isEarly ? entriesOf(disk, dir, { within }) : undefined;
    listed?.catch(() => {});
    const found = await looked;
    const real = found?.realPath ?? dir;
    const problem = folderProblem(dir, found, origin, bounds);
    const nothing = {
      real,
      problem,
      skillFile: undefined,
      entries: [],
      rules: [],
      diagnostics: [],
    };
    if (found === undefined || problem !== undefined) return nothing;
    const entries = await (listed ?? entriesOf(disk, dir));
    const skillFile = await skillFileIn(dir, entries);
    if (skillFile !== undefined) return { ...nothing, entries, skillFile };
    const { rules, diagnostics } = await rulesIn(dir, entries);
    const folder = { ...nothing, entries, rules: [...above, ...rules], diagnostics };
    if (disk.isFar) openBelow(dir, folder);
    return folder;
  }

  async function skillFileIn(
    dir: string,
    entries: readonly WorkspaceEntry[],
  ): Promise<string | undefined> {
    const entry = entries.find(({ name }) => name === "SKILL.md");
    if (entry === undefined) return undefined;
    const kind = await self.kindOf(dir, entry);
    const isFile = kind === "file" || kind === "other";
    return isFile ? limits.disk.path.join(dir, entry.name) : undefined;
  }

  async function rulesIn(dir: string, entries: readonly WorkspaceEntry[]) {
    const { disk, origin, bounds } = limits;
    const diagnostics: Diagnostic[] = [];
    const present = ignoreFiles.filter((name) => entries.some((entry) => entry.name === name));
    if (present.length === 0) return { rules: [], diagnostics };
    const paths = present.map((name) => disk.path.join(dir, name));
    const texts: string[] = [];
    const read = askEach(paths, disk, (path) => readBoundText(path, origin, bounds, { disk }));
    for (const answer of read) {
      const file = await answer();
      if (file.kind === "unreadable") diagnostics.push(file.diagnostic);
      if (file.kind === "text") texts.push(file.text);
    }
    return { rules: [{ dir, rulesOn: readIgnoreRules(texts.join("\n")) }], diagnostics };
  }

  /** Opens each folder once, whatever links lead to it, within the limits of the search. */
  function openBelow(dir: string, { real, entries, rules }: Folder): void {
    const { disk } = limits;
    entryCounts += entries.length;
    if (seen.has(real) || entryCounts > MAX_ENTRIES) return;
    seen.add(real);
    for (const { name, kind } of entries) {
      if (kind !== "directory" || isHidden(name)) continue;
      const path = disk.path.join(dir, name);
      if (levelOf(disk, root, path) > MAX_LEVELS) continue;
      if (isIgnored(disk, path, true, rules)) continue;
      const opened = open(path, rules);
      opened.catch(() => {});
      known.set(path, opened);
    }
  }

  const self = {
    open(dir: string, above: readonly Rules[]): Promise<Folder> {
      return known.get(dir) ?? open(dir, above);
    },
    async kindOf(dir: string, { name, kind }: WorkspaceEntry) {
      if (kind !== "symlink") return kind;
      const { disk } = limits;
      return kindOfStat(await lookAt(disk, disk.path.join(dir, name)));
    },
  };
  return self;
}

function isHidden(name: string): boolean {
  return name.startsWith(".") || name === "node_modules";
}

function levelOf({ path: { relative, sep } }: Disk, root: string, path: string): number {
  return relative(root, path).split(sep).length;
}

function isIgnored(
  { path: { relative, sep } }: Disk,
  path: string,
  isDirectory: boolean,
  rules: readonly Rules[],
): boolean {
  return rules.some(({ dir, rulesOn }) => {
    const local = relative(dir, path).split(sep).join("/");
    return rulesOn(local, isDirectory) === "ignored";
  });
}
