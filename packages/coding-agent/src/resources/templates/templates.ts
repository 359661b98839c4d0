import type { Diagnostic } from "@tau-agent/system";
import { collectResources } from "../files/collect-resources.ts";
import { askEach, kindOf } from "../files/disk.ts";
import { fittingEntries } from "../files/folder-names.ts";
import { parseFrontmatter, textAttribute } from "../files/frontmatter.ts";
import {
  disksOf,
  type LoadOptions,
  type ResourceDirs,
  type ResourcePlace,
  type ResourceScope,
} from "../files/places.ts";
import { textBoundsOf } from "../files/project-bounds.ts";

export interface PromptTemplate {
  readonly name: string;
  readonly description: string;
  readonly argumentHint: string | undefined;
  readonly body: string;
  readonly filePath: string;
  readonly scope: ResourceScope;
}

/** Templates by precedence, and the problems of others. */
export interface LoadedTemplates {
  readonly templates: readonly PromptTemplate[];
  readonly diagnostics: readonly Diagnostic[];
}

const shownLength = 60;

function placesOf(dirs: ResourceDirs, named: readonly ResourcePlace[]): ResourcePlace[] {
  const { agentDirectory, cwd } = dirs;
  const { host, project: disk } = disksOf(dirs);
  const { join } = disk.path;
  const user = host.path.join(agentDirectory, "prompts");
  const project = [join(cwd, ".pi", "prompts"), join(cwd, ".pi", "agent", "prompts")];
  const diskOf = (scope: ResourceScope) => (scope === "project" ? disk : host);
  const of = (scope: ResourceScope, paths: readonly string[]) => [
    ...named.filter((place) => place.scope === scope),
    ...paths.map((path) => ({ path, disk: diskOf(scope), scope, isNamed: false })),
  ];
  return [
    ...of("temporary", []),
    ...of(
      "project",
      project.filter((path) => disk.isFar || path !== user),
    ),
    ...of("user", [user]),
    ...of("package", []),
  ];
}

async function filesIn(
  place: ResourcePlace,
  diagnostics: Diagnostic[],
): Promise<{ path: string }[]> {
  const { path, disk, isNamed } = place;
  const listed = askEach([path], disk, () =>
    fittingEntries(disk, path, /^[^.].*\.md$/s, diagnostics),
  );
  const kind = await kindOf(disk, path);
  if (kind === "file") return [{ path }];
  if (kind === "directory") {
    const entries = (await listed[0]?.()) ?? [];
    const files = entries.filter((entry) => entry.kind !== "directory");
    return files.map(({ name }) => ({ path: disk.path.join(path, name) }));
  }
  if (isNamed) {
    const message = `There are no prompt templates at ${path}`;
    diagnostics.push({ severity: "warning", message, path });
  }
  return [];
}

async function readTemplate(
  { path, text }: { readonly path: string; readonly text: string },
  { disk, scope }: ResourcePlace,
  diagnostics: Diagnostic[],
): Promise<PromptTemplate> {
  const { attributes, body, problem } = await parseFrontmatter(text);
  if (problem !== undefined) {
    diagnostics.push({ severity: "warning", message: `Template ${path}: ${problem}`, path });
  }
  const firstLine = body.split("\n", 1)[0]?.trim() ?? "";
  const short =
    firstLine.length > shownLength ? `${firstLine.slice(0, shownLength)}...` : firstLine;
  return {
    name: disk.path.basename(path, ".md"),
    description: textAttribute(attributes, "description") ?? short,
    argumentHint: textAttribute(attributes, "argument-hint"),
    body,
    filePath: path,
    scope,
  };
}

/** Loads the prompt templates of the standard folders and of `named` places; the first template of a name wins. */
export async function loadTemplates(
  dirs: ResourceDirs,
  named: readonly ResourcePlace[] = [],
  options: LoadOptions = {},
): Promise<LoadedTemplates> {
  const diagnostics: Diagnostic[] = [];
  const bounds = await textBoundsOf(dirs);
  const templates = await collectResources(
    placesOf(dirs, named),
    { noun: "Template", filesIn, read: readTemplate },
    { ...options, bounds, diagnostics },
  );
  return { templates, diagnostics };
}
