import type { WorkspaceStat } from "@tau-agent/rpc-protocol/workspace";
import type { Diagnostic } from "@tau-agent/system";
import { askEach, type Disk, kindOfStat, lookAt, realPathOf } from "./disk.ts";
import { findGitRoot } from "./git-root.ts";
import { ancestorsOf, type Disks, disksOf, type ResourceDirs } from "./places.ts";
import { textBoundsOf } from "./project-bounds.ts";
import { readBoundText } from "./text-bounds.ts";

export interface ContextFile {
  readonly path: string;
  readonly content: string;
}

export interface ContextFiles {
  readonly files: readonly ContextFile[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The names of context files; in each folder, the first existing one is used. */
export const contextFileNames = [
  "AGENTS.override.md",
  "AGENTS.md",
  "AGENTS.MD",
  "CLAUDE.md",
  "CLAUDE.MD",
];

interface Folder {
  readonly disk: Disk;
  readonly dir: string;
}

interface FoundContext {
  readonly path: string;
  readonly disk: Disk;
  readonly found: WorkspaceStat | undefined;
}

/** The context file of a folder; a subfolder of that name is ignored. */
async function contextFileIn({ disk, dir }: Folder): Promise<FoundContext | undefined> {
  const paths = contextFileNames.map((name) => disk.path.join(dir, name));
  const looks = askEach(paths, disk, (path) => lookAt(disk, path));
  for (const [index, path] of paths.entries()) {
    const found = await looks[index]?.();
    const kind = kindOfStat(found);
    // Pipes and devices are included, so that reading them reports the problem.
    if (kind === "file" || kind === "other") return { path, disk, found };
  }
  return undefined;
}

/** The user's folder, then the folders from the file system's root down to the project's. */
function foldersOf({ agentDirectory, cwd }: ResourceDirs, { host, project }: Disks): Folder[] {
  const above = ancestorsOf(cwd, project.path)
    .reverse()
    .filter((dir) => project.isFar || dir !== agentDirectory);
  return [{ disk: host, dir: agentDirectory }, ...above.map((dir) => ({ disk: project, dir }))];
}

/**
 * Reads the user's context file, then those from the root of the file system down to `cwd`, one per folder. In a git
 * worktree inside its repository, the worktree's copy replaces the repository's own, to avoid duplicates.
 */
export async function loadContextFiles(dirs: ResourceDirs): Promise<ContextFiles> {
  const disks = disksOf(dirs);
  const { project } = disks;
  const folders = foldersOf(dirs, disks);
  const [bounds, git, ...found] = await Promise.all([
    textBoundsOf(dirs),
    findGitRoot(project, dirs.cwd),
    ...folders.map(contextFileIn),
  ]);
  const byFolder = new Map(folders.map((folder, index) => [folder, found[index]]));
  const rootFolder = folders.find(({ disk, dir }) => disk === project && dir === git?.root);
  if (git?.mainRoot !== undefined && rootFolder && byFolder.get(rootFolder) !== undefined) {
    const real = (dir: string) => realPathOf(project, dir);
    const [mainRoot, root] = await Promise.all([real(git.mainRoot), real(git.root)]);
    const inside = folders.filter(({ disk }) => disk === project);
    const reals = askEach(inside, project, ({ dir }) => real(dir));
    for (const [index, folder] of inside.entries()) {
      if (mainRoot !== root && (await reals[index]?.()) === mainRoot) byFolder.delete(folder);
    }
  }
  const files = new Map<string, ContextFile>();
  const diagnostics: Diagnostic[] = [];
  const wanted = [...byFolder].flatMap(([folder, file]) =>
    file === undefined
      ? []
      : [{ ...file, origin: folder === folders[0] ? "own" : "project" } as const],
  );
  const read = wanted.map(async ({ path, disk, found, origin }) => ({
    real: `${disk.id}\0${found?.realPath ?? path}`,
    file: await readBoundText(path, origin, bounds, { disk, found }),
  }));
  for (const { real, file } of await Promise.all(read)) {
    if (files.has(real)) continue;
    if (file.kind === "unreadable") diagnostics.push(file.diagnostic);
    if (file.kind !== "text") continue;
    files.set(real, { path: file.path, content: file.text.replaceAll("\r\n", "\n").trim() });
  }
  return { files: [...files.values()].filter(({ content }) => content !== ""), diagnostics };
}
