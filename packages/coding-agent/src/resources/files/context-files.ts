import { join } from "node:path";
import type { Diagnostic } from "@tau-agent/system";
import { ancestorsOf, findGitRoot, kindOf, type ResourceDirs, realPathOf } from "./places.ts";
import { readBoundText, textBoundsOf } from "./text-bounds.ts";

export interface ContextFile {
  readonly path: string;
  readonly content: string;
}

export interface ContextFiles {
  readonly files: readonly ContextFile[];
  readonly diagnostics: readonly Diagnostic[];
}

/** What a context file may be called; of several in one folder the first of these counts. */
export const contextFileNames = [
  "AGENTS.override.md",
  "AGENTS.md",
  "AGENTS.MD",
  "CLAUDE.md",
  "CLAUDE.MD",
];

/** The context file of one folder; a folder of that name does not count. */
async function contextFileIn(dir: string): Promise<string | undefined> {
  for (const name of contextFileNames) {
    const path = join(dir, name);
    const kind = await kindOf(path);
    // A pipe or a device is reported when it is read.
    if (kind === "file" || kind === "other") return path;
  }
  return undefined;
}

/**
 * Reads the user's context file, then those from the root of the file system down to `cwd`, one per
 * folder. In a git worktree that lies inside its repository, the worktree's copy stands for the
 * repository's own, which would say the same twice.
 */
export async function loadContextFiles(places: ResourceDirs): Promise<ContextFiles> {
  const { agentDirectory, cwd } = places;
  const dirs = [...new Set([agentDirectory, ...ancestorsOf(cwd).reverse()])];
  const [git, ...paths] = await Promise.all([findGitRoot(cwd), ...dirs.map(contextFileIn)]);
  const byDir = new Map(dirs.map((dir, index) => [dir, paths[index]]));
  const own = byDir.get(agentDirectory);
  if (git?.mainRoot !== undefined && byDir.get(git.root) !== undefined) {
    const [mainRoot, root] = await Promise.all([realPathOf(git.mainRoot), realPathOf(git.root)]);
    for (const dir of dirs) {
      if (mainRoot !== root && (await realPathOf(dir)) === mainRoot) byDir.delete(dir);
    }
  }
  const files = new Map<string, ContextFile>();
  const diagnostics: Diagnostic[] = [];
  const wanted = [...byDir.values()].filter((path) => path !== undefined);
  const bounds = textBoundsOf(places);
  const read = wanted.map(async (path) => ({
    real: await realPathOf(path),
    file: await readBoundText(path, path === own ? "own" : "project", bounds),
  }));
  for (const { real, file } of await Promise.all(read)) {
    if (files.has(real)) continue;
    if (file.kind === "unreadable") diagnostics.push(file.diagnostic);
    if (file.kind !== "text") continue;
    files.set(real, { path: file.path, content: file.text.replaceAll("\r\n", "\n").trim() });
  }
  return { files: [...files.values()].filter(({ content }) => content !== ""), diagnostics };
}
