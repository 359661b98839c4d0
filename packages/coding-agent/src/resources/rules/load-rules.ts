import { join } from "node:path";
import type { Diagnostic } from "@tau-agent/system";
import { collectResources } from "../files/collect-resources.ts";
import { namesIn } from "../files/folder-names.ts";
import {
  ancestorsOf,
  findGitRoot,
  kindOf,
  type ResourceDirs,
  type ResourcePlace,
} from "../files/places.ts";
import { originOf, readBoundText, textBoundsOf } from "../files/text-bounds.ts";
import type { StreamRule } from "./stream-rule.ts";

export interface LoadedRules {
  readonly rules: readonly StreamRule[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Loads the rules that watch replies. Of two with one name, the project's wins; rules without a
 * pattern are not stream rules and are ignored.
 */
export async function loadRules(dirs: ResourceDirs): Promise<LoadedRules> {
  const diagnostics: Diagnostic[] = [];
  const bounds = textBoundsOf(dirs);
  const rules = await collectResources(
    await placesOf(dirs),
    {
      noun: "Rule",
      filesIn: ({ path }) => filesIn(path, diagnostics),
      read: async ({ path }, place) => {
        const { readRule } = await import("./read-rule.ts");
        return readRule(await readBoundText(path, originOf(place), bounds), diagnostics);
      },
    },
    { diagnostics },
  );
  return { rules, diagnostics };
}

async function placesOf({
  agentDirectory,
  cwd,
  homeDirectory,
}: ResourceDirs): Promise<ResourcePlace[]> {
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
    agentDirectory,
    join(homeDirectory, ".omp", "agent"),
    join(homeDirectory, ".agents"),
    join(homeDirectory, ".agent"),
  ];
  return [
    ...project.map((dir) => ({ dir, scope: "project" as const })),
    ...user.map((dir) => ({ dir, scope: "user" as const })),
  ].map(({ dir, scope }) => ({ path: join(dir, "rules"), scope, isNamed: false }));
}

async function filesIn(folder: string, diagnostics: Diagnostic[]): Promise<{ path: string }[]> {
  const names = await namesIn(folder, /^[^.].*\.mdc?$/, diagnostics);
  const paths = names.map((name) => join(folder, name));
  const kinds = await Promise.all(paths.map(kindOf));
  return paths.filter((_, at) => kinds[at] !== "directory").map((path) => ({ path }));
}
