import { type Workspace, WorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import type { WorkspaceStatusSink } from "./reconnecting.ts";
import { ShellWorkspace } from "./shell-workspace.ts";
import { startProgram } from "./start-program.ts";

export interface ShellSpec {
  readonly shell: readonly string[];
  readonly cwd: string;
  readonly id: string;
}

export interface ShellOptions {
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  readonly reconnectMs?: number | undefined;
  readonly onStatus?: WorkspaceStatusSink | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A workspace at the other end of an argument list that runs one more argument in a shell.
 *
 * @throws {WorkspaceError} the place cannot be reached
 */
export async function connectShell(
  { shell, cwd, id }: ShellSpec,
  { environment = {}, reconnectMs = 60_000, onStatus = () => undefined }: ShellOptions = {},
): Promise<Workspace & { dispose(): Promise<void> }> {
  if (!cwd.startsWith("/")) throw new WorkspaceError("failed", `Not an absolute path: ${cwd}`);
  const variables = Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
  const start = (argument: string) => startProgram([...shell, argument], variables);
  return ShellWorkspace.connect({ id, cwd, start, reconnectMs, onStatus });
}
