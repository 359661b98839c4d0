import { readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { type IgnoreRules, readIgnoreRules } from "../../base/files/ignore-rules.ts";
import { readTextFile } from "../../base/files/read-text.ts";
import { kindOf, realPathOf } from "../files/places.ts";

/** A file that may be a skill. */
export interface SkillCandidate {
  readonly path: string;
  /** A `SKILL.md` claims to be a skill; another Markdown file is one only if it says so. */
  readonly isSkillFile: boolean;
}

interface Rules {
  readonly dir: string;
  readonly rulesOn: IgnoreRules;
}

const ignoreFiles = [".gitignore", ".ignore", ".fdignore"];

async function readRules(dir: string, entries: ReadonlySet<string>): Promise<Rules[]> {
  const present = ignoreFiles.filter((name) => entries.has(name));
  if (present.length === 0) return [];
  const texts: string[] = [];
  for (const name of present) {
    const file = await readTextFile(join(dir, name));
    if (file.kind === "text") texts.push(file.text);
  }
  return [{ dir, rulesOn: readIgnoreRules(texts.join("\n")) }];
}

function isIgnored(path: string, isDirectory: boolean, rules: readonly Rules[]): boolean {
  return rules.some(({ dir, rulesOn }) => {
    const local = relative(dir, path).split(sep).join("/");
    return rulesOn(local, isDirectory) === "ignored";
  });
}

/**
 * Finds skill files below `root`: a folder with a `SKILL.md` is one skill and is not searched further;
 * with `takesRootFiles`, Markdown files directly in `root` are candidates, too. Hidden names,
 * `node_modules` and what ignore files name are left out; links are followed, each folder once.
 */
export async function scanForSkills(
  root: string,
  takesRootFiles: boolean,
): Promise<SkillCandidate[]> {
  const seen = new Set<string>();
  const visit = async (dir: string, above: readonly Rules[]): Promise<SkillCandidate[]> => {
    const real = await realPathOf(dir);
    if (seen.has(real)) return [];
    seen.add(real);
    const entries = (await readdir(dir).catch(() => [])).sort();
    const names = new Set(entries);
    const skillFile = join(dir, "SKILL.md");
    if (names.has("SKILL.md") && (await kindOf(skillFile)) === "file") {
      return [{ path: skillFile, isSkillFile: true }];
    }
    const rules = [...above, ...(await readRules(dir, names))];
    const found: SkillCandidate[] = [];
    for (const name of entries) {
      if (name.startsWith(".") || name === "node_modules") continue;
      const path = join(dir, name);
      const kind = await kindOf(path);
      if (isIgnored(path, kind === "directory", rules)) continue;
      if (kind === "directory") found.push(...(await visit(path, rules)));
      else if (kind === "file" && takesRootFiles && dir === root && name.endsWith(".md")) {
        found.push({ path, isSkillFile: false });
      }
    }
    return found;
  };
  return visit(root, []);
}
