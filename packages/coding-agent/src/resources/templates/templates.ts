import { basename, join } from "node:path";
import type { Diagnostic } from "@tau-agent/system";
import { collectResources } from "../files/collect-resources.ts";
import { namesIn } from "../files/folder-names.ts";
import { parseFrontmatter, textAttribute } from "../files/frontmatter.ts";
import {
  kindOf,
  type LoadOptions,
  type ResourceDirs,
  type ResourcePlace,
  type ResourceScope,
} from "../files/places.ts";
import { originOf, readBoundText, type TextBounds, textBoundsOf } from "../files/text-bounds.ts";

export interface PromptTemplate {
  readonly name: string;
  readonly description: string;
  readonly argumentHint: string | undefined;
  readonly body: string;
  readonly filePath: string;
  readonly scope: ResourceScope;
}

/** Templates by precedence, and what was wrong with others. */
export interface LoadedTemplates {
  readonly templates: readonly PromptTemplate[];
  readonly diagnostics: readonly Diagnostic[];
}

const shownLength = 60;

function placesOf(dirs: ResourceDirs, named: readonly ResourcePlace[]): ResourcePlace[] {
  const { agentDirectory, cwd } = dirs;
  const user = join(agentDirectory, "prompts");
  const project = [join(cwd, ".pi", "prompts"), join(cwd, ".pi", "agent", "prompts")];
  const of = (scope: ResourceScope, paths: readonly string[]) => [
    ...named.filter((place) => place.scope === scope),
    ...paths.map((path) => ({ path, scope, isNamed: false })),
  ];
  return [
    ...of("temporary", []),
    ...of(
      "project",
      project.filter((path) => path !== user),
    ),
    ...of("user", [user]),
    ...of("package", []),
  ];
}

async function filesIn(place: ResourcePlace, diagnostics: Diagnostic[]): Promise<string[]> {
  const kind = await kindOf(place.path);
  if (kind === "file") return [place.path];
  if (kind === "directory") {
    const names = await namesIn(place.path, /^[^.].*\.md$/s, diagnostics);
    return names.map((name) => join(place.path, name));
  }
  if (place.isNamed) {
    const message = `There are no prompt templates at ${place.path}`;
    diagnostics.push({ severity: "warning", message, path: place.path });
  }
  return [];
}

async function readTemplate(
  path: string,
  { scope, isNamed }: ResourcePlace,
  { bounds, diagnostics }: { bounds: TextBounds; diagnostics: Diagnostic[] },
): Promise<PromptTemplate | undefined> {
  if ((await kindOf(path)) === "directory") return undefined;
  const file = await readBoundText(path, originOf({ scope, isNamed }), bounds);
  if (file.kind === "unreadable") diagnostics.push(file.diagnostic);
  if (file.kind !== "text") return undefined;
  const { attributes, body, problem } = await parseFrontmatter(file.text);
  if (problem !== undefined) {
    diagnostics.push({ severity: "warning", message: `Template ${path}: ${problem}`, path });
  }
  const firstLine = body.split("\n", 1)[0]?.trim() ?? "";
  const short =
    firstLine.length > shownLength ? `${firstLine.slice(0, shownLength)}...` : firstLine;
  return {
    name: basename(path, ".md"),
    description: textAttribute(attributes, "description") ?? short,
    argumentHint: textAttribute(attributes, "argument-hint"),
    body,
    filePath: path,
    scope,
  };
}

/** Loads the prompt templates of the standard folders and of `named` places; the first of a name wins. */
export async function loadTemplates(
  dirs: ResourceDirs,
  named: readonly ResourcePlace[] = [],
  options: LoadOptions = {},
): Promise<LoadedTemplates> {
  const diagnostics: Diagnostic[] = [];
  const bounds = textBoundsOf(dirs);
  const templates = await collectResources(
    placesOf(dirs, named),
    {
      noun: "Template",
      filesIn: async (place) => (await filesIn(place, diagnostics)).map((path) => ({ path })),
      read: ({ path }, place) => readTemplate(path, place, { bounds, diagnostics }),
    },
    { ...options, diagnostics },
  );
  return { templates, diagnostics };
}
