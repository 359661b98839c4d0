import { basename, dirname, join } from "node:path";
import type { Diagnostic } from "@tau-agent/system";
import { collectResources } from "../files/collect-resources.ts";
import { parseFrontmatter, textAttribute } from "../files/frontmatter.ts";
import {
  ancestorsOf,
  findGitRoot,
  kindOf,
  type LoadOptions,
  type ResourceDirs,
  type ResourcePlace,
  type ResourceScope,
} from "../files/places.ts";
import { originOf, readBoundText, type TextBounds, textBoundsOf } from "../files/text-bounds.ts";
import { type SkillCandidate, scanForSkills } from "./skill-scan.ts";

/** Knowledge a model reads when a task calls for it. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly filePath: string;
  /** The folder its relative paths start from. */
  readonly baseDir: string;
  readonly scope: ResourceScope;
  /** Kept out of the system prompt; the command works all the same. */
  readonly isHiddenFromModel: boolean;
}

/** Skills by precedence, and what was wrong with others. */
export interface LoadedSkills {
  readonly skills: readonly Skill[];
  readonly diagnostics: readonly Diagnostic[];
}

const maxNameLength = 64;
const maxDescriptionLength = 1024;

/** Folders that are searched without being named, the project's first. */
async function standardPlaces(
  dirs: ResourceDirs,
): Promise<(ResourcePlace & { isNative: boolean })[]> {
  const { agentDirectory, cwd, homeDirectory } = dirs;
  const root = (await findGitRoot(cwd))?.root ?? cwd;
  const upward = ancestorsOf(cwd);
  const within = upward.slice(0, Math.max(1, upward.indexOf(root) + 1));
  const project = { scope: "project", isNamed: false } as const;
  const user = { scope: "user", isNamed: false } as const;
  return [
    { ...project, isNative: true, path: join(cwd, ".pi", "skills") },
    { ...project, isNative: true, path: join(cwd, ".pi", "agent", "skills") },
    ...within.map((dir) => ({ ...project, isNative: false, path: join(dir, ".agents", "skills") })),
    { ...user, isNative: true, path: join(agentDirectory, "skills") },
    { ...user, isNative: false, path: join(homeDirectory, ".agents", "skills") },
  ];
}

/** Everywhere to look, strongest first: flags, then each scope's settings before its folders. */
async function placesOf(dirs: ResourceDirs, named: readonly ResourcePlace[]) {
  const standard = await standardPlaces(dirs);
  const explicit = named.map((place) => ({ ...place, isNative: true }));
  const of = (scope: ResourceScope) => [
    ...explicit.filter((place) => place.scope === scope),
    ...standard.filter((place) => place.scope === scope),
  ];
  // Home and project may be one folder; the files are the user's then.
  const ownDirs = new Set(standard.filter(({ scope }) => scope === "user").map(({ path }) => path));
  const project = of("project").filter((place) => place.isNamed || !ownDirs.has(place.path));
  return [...of("temporary"), ...project, ...of("user"), ...of("package")];
}

/**
 * Loads skills from the standard folders and from `named` places. Of two with one name the stronger
 * place wins, with a diagnostic; the same file reached twice counts once, silently.
 */
export async function loadSkills(
  dirs: ResourceDirs,
  named: readonly ResourcePlace[] = [],
  options: LoadOptions = {},
): Promise<LoadedSkills> {
  const diagnostics: Diagnostic[] = [];
  const reading = { bounds: textBoundsOf(dirs), diagnostics };
  const skills = await collectResources(
    await placesOf(dirs, named),
    {
      noun: "Skill",
      filesIn: (place) => candidatesIn(place, reading),
      read: (candidate, place) => readSkill(candidate, place, reading),
    },
    { ...options, diagnostics },
  );
  return { skills, diagnostics };
}

interface Reading {
  readonly bounds: TextBounds;
  readonly diagnostics: Diagnostic[];
}

async function candidatesIn(
  place: ResourcePlace & { isNative: boolean },
  { bounds, diagnostics }: Reading,
): Promise<readonly SkillCandidate[]> {
  const kind = await kindOf(place.path);
  if (kind === "directory") {
    const origin = originOf(place);
    const found = await scanForSkills(place.path, place.isNative, { origin, bounds });
    diagnostics.push(...found.diagnostics);
    return found.candidates;
  }
  if (kind === "file") return [{ path: place.path, isSkillFile: true }];
  if (place.isNamed) {
    const message = `There are no skills at ${place.path}`;
    diagnostics.push({ severity: "warning", message, path: place.path });
  }
  return [];
}

async function readSkill(
  candidate: SkillCandidate,
  { scope, isNamed }: ResourcePlace,
  { bounds, diagnostics }: Reading,
): Promise<Skill | undefined> {
  const { path } = candidate;
  const warn = (message: string) => diagnostics.push({ severity: "warning", message, path });
  const file = await readBoundText(path, originOf({ scope, isNamed }), bounds);
  if (file.kind === "unreadable") diagnostics.push(file.diagnostic);
  if (file.kind !== "text") return undefined;
  const { attributes, problem } = await parseFrontmatter(file.text);
  const description = textAttribute(attributes, "description");
  if (problem !== undefined) warn(`Skill ${path} is left out: ${problem}`);
  else if (description === undefined && candidate.isSkillFile) {
    warn(`Skill ${path} is left out: it has no description`);
  }
  if (description === undefined) return undefined;
  const baseDir = dirname(path);
  const fallback = candidate.isSkillFile ? basename(baseDir) : basename(path, ".md");
  const name = textAttribute(attributes, "name") ?? fallback;
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || name.length > maxNameLength) {
    warn(`Skill name ${name} should be at most 64 of a-z, 0-9 and single hyphens (in ${path})`);
  }
  if (description.length > maxDescriptionLength) {
    warn(`The description of skill ${name} is longer than 1024 characters (in ${path})`);
  }
  const isHiddenFromModel = attributes["disable-model-invocation"] === true;
  return { name, description, filePath: path, baseDir, scope, isHiddenFromModel };
}
