import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { type Diagnostic, type IgnoreRules, readIgnoreRules } from "@tau-agent/system";
import { kindOf, realPathOf } from "../files/places.ts";
import {
  folderProblem,
  leftOut,
  readBoundText,
  type TextBounds,
  type TextOrigin,
} from "../files/text-bounds.ts";

export interface SkillCandidate {
  readonly path: string;
  /** A `SKILL.md` claims to be a skill; another Markdown file is one only if it says so. */
  readonly isSkillFile: boolean;
}

export interface SkillScan {
  readonly candidates: readonly SkillCandidate[];
  readonly diagnostics: readonly Diagnostic[];
}

interface ScanBounds {
  readonly origin: TextOrigin;
  readonly bounds: TextBounds;
}

/** Far above any collection of skills, and read within a fraction of a second. */
const MAX_ENTRIES = 10_000;
const MAX_LEVELS = 12;
/** For file systems on which even that takes long. */
const MAX_MS = 2000;

interface Rules {
  readonly dir: string;
  readonly rulesOn: IgnoreRules;
}

const ignoreFiles = [".gitignore", ".ignore", ".fdignore"];

/**
 * Finds skill files below `root`: a folder with a `SKILL.md` is one skill and is not searched further;
 * with `takesRootFiles`, Markdown files directly in `root` are candidates, too. Hidden names,
 * `node_modules` and what ignore files name are left out; links are followed, each folder once, those
 * of a project only within it. Stops after {@link MAX_ENTRIES}, with a diagnostic.
 */
export async function scanForSkills(
  root: string,
  takesRootFiles: boolean,
  bounds: ScanBounds,
): Promise<SkillScan> {
  const scan = new Scan(root, takesRootFiles, bounds);
  await scan.visit(root, []);
  return scan;
}

class Scan implements SkillScan {
  readonly candidates: SkillCandidate[] = [];
  readonly diagnostics: Diagnostic[] = [];
  readonly #root: string;
  readonly #takesRootFiles: boolean;
  readonly #bounds: ScanBounds;
  readonly #seen = new Set<string>();
  readonly #deadline = performance.now() + MAX_MS;
  #entries = 0;
  #isOver = false;

  constructor(root: string, takesRootFiles: boolean, bounds: ScanBounds) {
    this.#root = root;
    this.#takesRootFiles = takesRootFiles;
    this.#bounds = bounds;
  }

  async visit(dir: string, above: readonly Rules[]): Promise<void> {
    const real = await realPathOf(dir);
    if (this.#seen.has(real)) return;
    this.#seen.add(real);
    const { origin, bounds } = this.#bounds;
    const problem = folderProblem(dir, origin, bounds);
    if (problem !== undefined) {
      this.diagnostics.push(leftOut(dir, problem));
      return;
    }
    const entries = await this.#entriesOf(dir);
    const skillFile = join(dir, "SKILL.md");
    if (entries.some(({ name }) => name === "SKILL.md")) {
      const kind = await kindOf(skillFile);
      if (kind === "file" || kind === "other") {
        this.candidates.push({ path: skillFile, isSkillFile: true });
        return;
      }
    }
    const rules = [...above, ...(await this.#rulesOf(dir, entries))];
    for (const entry of entries) await this.#consider(dir, entry, rules);
  }

  async #consider(dir: string, entry: Dirent, rules: readonly Rules[]): Promise<void> {
    const { name } = entry;
    if (name.startsWith(".") || name === "node_modules" || this.#mustStop()) return;
    const path = join(dir, name);
    const kind = entry.isDirectory() ? "directory" : entry.isFile() ? "file" : await kindOf(path);
    const isCandidate = this.#takesRootFiles && dir === this.#root && name.endsWith(".md");
    if (kind !== "directory" && !isCandidate) return;
    if (isIgnored(path, kind === "directory", rules)) return;
    if (kind === "directory") {
      const level = relative(this.#root, path).split(sep).length;
      if (level <= MAX_LEVELS) await this.visit(path, rules);
    } else if (kind !== "missing") this.candidates.push({ path, isSkillFile: false });
  }

  /** The entries of a folder by name, as many as may still be read. */
  async #entriesOf(dir: string): Promise<Dirent[]> {
    const entries: Dirent[] = [];
    if (this.#mustStop()) return entries;
    try {
      for await (const entry of await opendir(dir, { bufferSize: 256 })) {
        if (this.#mustStop()) break;
        this.#entries += 1;
        entries.push(entry);
      }
    } catch {
      // A folder that cannot be read holds no skills.
    }
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async #rulesOf(dir: string, entries: readonly Dirent[]): Promise<Rules[]> {
    const present = ignoreFiles.filter((name) => entries.some((entry) => entry.name === name));
    if (present.length === 0) return [];
    const texts: string[] = [];
    for (const name of present) {
      const path = join(dir, name);
      const file = await readBoundText(path, this.#bounds.origin, this.#bounds.bounds);
      if (file.kind === "unreadable") this.diagnostics.push(file.diagnostic);
      if (file.kind === "text") texts.push(file.text);
    }
    return [{ dir, rulesOn: readIgnoreRules(texts.join("\n")) }];
  }

  #mustStop(): boolean {
    if (this.#isOver) return true;
    const isFull = this.#entries >= MAX_ENTRIES;
    if (!isFull && performance.now() < this.#deadline) return false;
    this.#isOver = true;
    const reason = isFull
      ? `the search for skills stopped after ${MAX_ENTRIES} files and folders`
      : `the search for skills stopped after ${MAX_MS / 1000} seconds`;
    this.diagnostics.push(leftOut(this.#root, `the rest of it; ${reason}`));
    return true;
  }
}

function isIgnored(path: string, isDirectory: boolean, rules: readonly Rules[]): boolean {
  return rules.some(({ dir, rulesOn }) => {
    const local = relative(dir, path).split(sep).join("/");
    return rulesOn(local, isDirectory) === "ignored";
  });
}
