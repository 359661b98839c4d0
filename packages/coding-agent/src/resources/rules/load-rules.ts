import type { Diagnostic } from "@tau-agent/system";
import { collectResources } from "../files/collect-resources.ts";
import { fittingEntries } from "../files/folder-names.ts";
import { foldersOfRepository } from "../files/git-root.ts";
import { disksOf, type ResourceDirs, type ResourcePlace } from "../files/places.ts";
import { textBoundsOf } from "../files/project-bounds.ts";
import type { StreamRule } from "./stream-rule.ts";

export interface LoadedRules {
  readonly rules: readonly StreamRule[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Loads the rules that watch replies. If two have the same name, the project's wins; rules without
 * a pattern are not stream rules and are ignored.
 */
export async function loadRules(dirs: ResourceDirs): Promise<LoadedRules> {
  const diagnostics: Diagnostic[] = [];
  const [places, bounds] = await Promise.all([placesOf(dirs), textBoundsOf(dirs)]);
  const rules = await collectResources(
    places,
    {
      noun: "Rule",
      filesIn,
      read: async (file, _, problems) => {
        const { readRule } = await import("./read-rule.ts");
        return readRule(file, problems);
      },
    },
    { bounds, diagnostics },
  );
  return { rules, diagnostics };
}

async function placesOf(dirs: ResourceDirs): Promise<ResourcePlace[]> {
  const { agentDirectory, cwd, homeDirectory } = dirs;
  const { host, project: disk } = disksOf(dirs);
  const { join } = disk.path;
  const within = await foldersOfRepository(disk, cwd);
  const project = [
    join(cwd, ".pi"),
    join(cwd, ".pi", "agent"),
    join(cwd, ".omp"),
    ...within.flatMap((dir) => [join(dir, ".agents"), join(dir, ".agent")]),
  ];
  const user = [
    [agentDirectory],
    [homeDirectory, ".omp", "agent"],
    [homeDirectory, ".agents"],
    [homeDirectory, ".agent"],
  ];
  const rest = { isNamed: false } as const;
  return [
    ...project.map((dir) => ({
      path: join(dir, "rules"),
      disk,
      scope: "project" as const,
      ...rest,
    })),
    ...user.map((parts) => ({
      ...{ path: host.path.join(...parts, "rules"), disk: host, scope: "user" as const },
      ...rest,
    })),
  ];
}

async function filesIn(
  { path: folder, disk }: ResourcePlace,
  diagnostics: Diagnostic[],
): Promise<{ path: string }[]> {
  const entries = await fittingEntries(disk, folder, /^[^.].*\.mdc?$/, diagnostics);
  const files = entries.filter(({ kind }) => kind !== "directory");
  return files.map(({ name }) => ({ path: disk.path.join(folder, name) }));
}
