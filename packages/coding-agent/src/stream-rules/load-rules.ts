import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Diagnostic } from "../diagnostic.ts";
import type { JsonObject } from "../files/read-json.ts";
import { readTextFile } from "../files/read-text.ts";
import { collectResources } from "../prompt/collect-resources.ts";
import { parseFrontmatter, textAttribute } from "../prompt/frontmatter.ts";
import {
  ancestorsOf,
  findGitRoot,
  type ResourceDirs,
  type ResourcePlace,
} from "../prompt/places.ts";
import { parsePattern, type RulePattern } from "./rule-pattern.ts";
import { parseScope, splitList } from "./rule-scope.ts";
import type { StreamRule } from "./stream-rule.ts";

/** Stream rules by precedence, and what was wrong with others. */
export interface LoadedRules {
  readonly rules: readonly StreamRule[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Loads the rules that watch replies, from the folders where rules are. Of two with one name the
 * project's wins; rules without a pattern are none of ours and pass in silence.
 */
export async function loadRules(dirs: ResourceDirs): Promise<LoadedRules> {
  const diagnostics: Diagnostic[] = [];
  const rules = await collectResources(
    await placesOf(dirs),
    {
      noun: "Rule",
      filesIn: ({ path }) => filesIn(path),
      read: ({ path }) => readRule(path, diagnostics),
    },
    { diagnostics },
  );
  return { rules, diagnostics };
}

async function placesOf({ agentDir, cwd, homeDir }: ResourceDirs): Promise<ResourcePlace[]> {
  const root = (await findGitRoot(cwd))?.root ?? cwd;
  const upward = ancestorsOf(cwd);
  const within = upward.slice(0, Math.max(1, upward.indexOf(root) + 1));
  const project = [
    join(cwd, ".pi"),
    join(cwd, ".pi", "agent"),
    join(cwd, ".omp"),
    ...within.flatMap((dir) => [join(dir, ".agents"), join(dir, ".agent")]),
  ];
  const user = [
    agentDir,
    join(homeDir, ".omp", "agent"),
    join(homeDir, ".agents"),
    join(homeDir, ".agent"),
  ];
  return [
    ...project.map((dir) => ({ dir, scope: "project" as const })),
    ...user.map((dir) => ({ dir, scope: "user" as const })),
  ].map(({ dir, scope }) => ({ path: join(dir, "rules"), scope, isNamed: false }));
}

async function filesIn(folder: string): Promise<{ path: string }[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => !entry.isDirectory() && /^[^.].*\.mdc?$/.test(entry.name))
    .map(({ name }) => ({ path: join(folder, name) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function readRule(path: string, diagnostics: Diagnostic[]): Promise<StreamRule | undefined> {
  const leaveOut = (reason: string): undefined => {
    const message = `Rule ${path} is left out: ${reason}`;
    diagnostics.push({ severity: "warning", message, path });
  };
  const file = await readTextFile(path);
  if (file.kind === "unreadable") diagnostics.push(file.diagnostic);
  if (file.kind !== "text") return undefined;
  const { attributes, body, problem } = await parseFrontmatter(file.text);
  if (problem !== undefined) {
    return leaveOut(`${problem}. Put patterns and globs in single quotes`);
  }
  const written = listAttribute(attributes, "ttsr_trigger", "ttsrTrigger", "condition");
  if (written === undefined || attributes.enabled === false) return undefined;
  const patterns: RulePattern[] = [];
  for (const text of written) {
    const pattern = parsePattern(text);
    if ("problem" in pattern) {
      return leaveOut(`its ttsr_trigger is no regular expression (${pattern.problem})`);
    }
    patterns.push(pattern);
  }
  const globs = listAttribute(attributes, "globs")?.flatMap(splitList);
  const scope = parseScope(listAttribute(attributes, "scope")?.flatMap(splitList), globs);
  if ("unknown" in scope) {
    return leaveOut(
      `its scope ${scope.unknown} is none of text, thinking, tool, tool:name, tool:name(glob)`,
    );
  }
  const description = textAttribute(attributes, "description");
  const content = body === "" ? description : body;
  if (content === undefined) return leaveOut("it has no text that could be shown to the model");
  const name = textAttribute(attributes, "name") ?? basename(path).replace(/\.mdc?$/, "");
  return { name, filePath: path, description, content, patterns, scope };
}

/** The first of these attributes that is there, as a list of texts; undefined when it says nothing. */
function listAttribute(attributes: JsonObject, ...names: readonly string[]): string[] | undefined {
  for (const name of names) {
    const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    const texts = (Array.isArray(value) ? value : [value])
      .filter((one) => ["string", "number"].includes(typeof one))
      .map(String)
      .filter((text) => text.trim() !== "");
    if (texts.length > 0) return texts;
  }
  return undefined;
}
