import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Workspace } from "../../../../system/src/processes/__fixtures__/workspace.ts";
import type { IsolatedTree } from "../trees/isolated-tree.ts";
import { Isolation } from "../isolation.ts";
import { keepWork } from "../trees/keep-work.ts";

/** The output of git, run as a named user. */
export const gitIn = (cwd: string, ...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@localhost", ...args], {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });

export function repository(files: Record<string, string | Uint8Array> = {}): Workspace {
  const workspace = new Workspace();
  onTestFinished(() => workspace[Symbol.dispose]());
  workspace.write({ "a.txt": "one\ntwo\nthree\n", ".gitignore": "ignored/\n*.log\n", ...files });
  gitIn(workspace.directory, "init", "-q");
  gitIn(workspace.directory, "add", "-A");
  gitIn(workspace.directory, "commit", "-qm", "first");
  return workspace;
}

/** Records the caller's state, from which trees can be made. */
export async function isolate(workspace: Workspace, options: { cwd?: string; max?: number; environment?: Readonly<Record<string, string | undefined>>; trusted?: boolean; keyVariables?: readonly string[] } = {}) {
  const isolation = await Isolation.open({
    environment: workspace.environment({
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      ...(options.environment !== undefined && { environment: options.environment }),
      ...(options.keyVariables !== undefined && { keyVariables: options.keyVariables }),
    }),
    worktreesRoot: join(workspace.spillDirectory, "worktrees"),
    isProjectTrusted: options.trusted ?? false,
    maxCopyBytes: options.max ?? 1_000_000,
  });
  onTestFinished(() => isolation.dispose());
  return isolation;
}

export async function changeOf(
  isolation: Isolation,
  id: string,
  tree: Pick<IsolatedTree, "capture">,
) {
  const captured = await tree.capture();
  const patchPath = join(isolation.folder.path, `${id}.patch`);
  return { id, tree: captured.tree, patchPath, captured, ...(await keepWork(isolation, captured, patchPath)) };
}

/** The state of a folder as git reports it, which must not change. */
export const stateOf = (directory: string) => ({
  status: gitIn(directory, "status", "--porcelain", "--untracked-files=all"),
  index: gitIn(directory, "ls-files", "--stage"),
  head: gitIn(directory, "rev-parse", "HEAD"),
  refs: gitIn(directory, "for-each-ref"),
  worktrees: gitIn(directory, "worktree", "list"),
});
