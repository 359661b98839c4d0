import { type Workspace, WorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { LastLine } from "./last-line.ts";

/**
 * Runs lines of POSIX `sh` in a workspace, with `$1` and so on.
 *
 * @throws {WorkspaceError} the lines failed; the message has the last line of their output
 */
export async function runScript(
  workspace: Pick<Workspace, "describe" | "spawn">,
  script: string,
  args: readonly string[],
): Promise<void> {
  const { homeDirectory } = await workspace.describe();
  const said = new LastLine();
  const { done } = await workspace.spawn({
    command: ["sh", "-c", script, "tau", ...args],
    cwd: homeDirectory,
    onOutput: (bytes) => said.push(bytes),
  });
  const { exitCode } = await done;
  if (exitCode === 0) return;
  throw new WorkspaceError("failed", said.text ?? `it ended with exit code ${exitCode}`);
}
