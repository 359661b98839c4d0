import { type Workspace, WorkspaceError } from "@tau-agent/rpc-protocol/workspace";

/**
 * Runs lines of POSIX `sh` in a workspace, with `$1` and so on.
 *
 * @throws {WorkspaceError} it failed, with the last line that it said
 */
export async function runScript(
  workspace: Workspace,
  script: string,
  args: readonly string[],
): Promise<void> {
  const { homeDirectory } = await workspace.describe();
  let said = "";
  const { done } = await workspace.spawn({
    command: ["sh", "-c", script, "tau", ...args],
    cwd: homeDirectory,
    onOutput: (bytes) => {
      said = `${said}${Buffer.from(bytes).toString()}`.slice(-1_000);
    },
  });
  const { exitCode } = await done;
  if (exitCode === 0) return;
  const line = said.trim().split("\n").at(-1) || `it ended with exit code ${exitCode}`;
  throw new WorkspaceError("failed", line);
}
