import type { Diagnostic } from "@tau-agent/system";
import { collectResources } from "../files/collect-resources.ts";
import { askEach, kindOf } from "../files/disk.ts";
import { parseFrontmatter, textAttribute } from "../files/frontmatter.ts";
import { foldersOfRepository } from "../files/git-root.ts";
import {
  disksOf,
  type LoadOptions,
  type ResourceDirs,
  type ResourcePlace,
  type ResourceScope,
} from "../files/places.ts";
import { type TextBounds, textBoundsOf } from "../files/project-bounds.ts";
import { originOf } from "../files/text-bounds.ts";
import { type SkillCandidate, scanForSkills } from "./skill-scan.ts";

/** Instructions that a model reads when a task calls for them. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly filePath: string;
  /** The base of its relative paths. */
  readonly baseDir: string;
  readonly scope: ResourceScope;
  /** Left out of the system prompt; the command still works. */
  readonly isHiddenFromModel: boolean;
  /** Whether its files are in a remote workspace. */
  readonly isElsewhere?: true;
}

/** Skills by precedence, and the problems of others. */
export interface LoadedSkills {
  readonly skills: readonly Skill[];
  readonly diagnostics: readonly Diagnostic[];
}

const maxNameLength = 64;
const maxDescriptionLength = 1024;

/** The standard folders, the project's first. */
async function standardPlaces(
  dirs: ResourceDirs,
): Promise<(ResourcePlace & { isNative: boolean })[]> {
  const { agentDirectory, cwd, homeDirectory } = dirs;
  const { host, project: disk } = disksOf(dirs);
  const { join } = disk.path;
  const within = await foldersOfRepository(disk, cwd);
  const project = { disk, scope: "project", isNamed: false } as const;
  const user = { disk: host, scope: "user", isNamed: false } as const;
  return [
    { ...project, isNative: true, path: join(cwd, ".pi", "skills") },
    { ...project, isNative: true, path: join(cwd, ".pi", "agent", "skills") },
    ...within.map((dir) => ({ ...project, isNative: false, path: join(dir, ".agents", "skills") })),
    { ...user, isNative: true, path: host.path.join(agentDirectory, "skills") },
    { ...user, isNative: false, path: host.path.join(homeDirectory, ".agents", "skills") },
  ];
}

/** All places to search, strongest first: flags, then each scope's settings before its folders. */
async function placesOf(dirs: ResourceDirs, named: readonly ResourcePlace[]) {
  const standard = await standardPlaces(dirs);
  const explicit = named.map((place) => ({ ...place, isNative: true }));
  const of = (scope: ResourceScope) => [
    ...explicit.filter((place) => place.scope === scope),
    ...standard.filter((place) => place.scope === scope),
  ];
  // If home and project are the same folder, the files count as the user's.
  const own = standard.filter(({ scope }) => scope === "user").map(({ path }) => path);
  const ownDirs = new Set(dirs.disk === undefined ? own : []);
  const project = of("project").filter((place) => place.isNamed || !ownDirs.has(place.path));
  return [...of("temporary"), ...project, ...of("user"), ...of("package")];
}

/**
 * Loads skills from the standard folders and from `named` places. If two have the same name, the
 * stronger place wins, with a diagnostic. A file that is reached twice counts once, silently.
 */
export async function loadSkills(
  dirs: ResourceDirs,
  named: readonly ResourcePlace[] = [],
  options: LoadOptions = {},
): Promise<LoadedSkills> {
  const diagnostics: Diagnostic[] = [];
  const [places, bounds] = await Promise.all([placesOf(dirs, named), textBoundsOf(dirs)]);
  const skills = await collectResources(
    places,
    {
      noun: "Skill",
      filesIn: (place, problems) => candidatesIn(place, bounds, problems),
      read: readSkill,
    },
    { ...options, bounds, diagnostics },
  );
  return { skills, diagnostics };
}

async function candidatesIn(
  place: ResourcePlace & { isNative: boolean },
  bounds: TextBounds,
  diagnostics: Diagnostic[],
): Promise<readonly SkillCandidate[]> {
  const { path, disk, isNamed } = place;
  const scanned = askEach([path], disk, () =>
    scanForSkills(path, place.isNative, { disk, origin: originOf(place), bounds }),
  );
  const kind = await kindOf(disk, path);
  if (kind === "directory") {
    const found = await scanned[0]?.();
    diagnostics.push(...(found?.diagnostics ?? []));
    return found?.candidates ?? [];
  }
  if (kind === "file") return [{ path, isSkillFile: true }];
  if (isNamed) {
    const message = `There are no skills at ${path}`;
    diagnostics.push({ severity: "warning", message, path });
  }
  return [];
}

async function readSkill(
  { path, text, isSkillFile }: SkillCandidate & { readonly text: string },
  { disk, scope }: ResourcePlace,
  diagnostics: Diagnostic[],
): Promise<Skill | undefined> {
  const { basename, dirname } = disk.path;
  const warn = (message: string) => diagnostics.push({ severity: "warning", message, path });
  const { attributes, problem } = await parseFrontmatter(text);
  const description = textAttribute(attributes, "description");
  if (problem !== undefined) warn(`Skill ${path} is left out: ${problem}`);
  else if (description === undefined && isSkillFile) {
    warn(`Skill ${path} is left out: it has no description`);
  }
  if (description === undefined) return undefined;
  const baseDir = dirname(path);
  const fallback = isSkillFile ? basename(baseDir) : basename(path, ".md");
  const name = textAttribute(attributes, "name") ?? fallback;
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || name.length > maxNameLength) {
    warn(`Skill name ${name} should be at most 64 of a-z, 0-9 and single hyphens (in ${path})`);
  }
  if (description.length > maxDescriptionLength) {
    warn(`The description of skill ${name} is longer than 1024 characters (in ${path})`);
  }
  const isHiddenFromModel = attributes["disable-model-invocation"] === true;
  const elsewhere = disk.isFar ? { isElsewhere: true as const } : {};
  return { name, description, filePath: path, baseDir, scope, isHiddenFromModel, ...elsewhere };
}
