import {
  isWorkspaceError,
  type Workspace,
  type WorkspaceExit,
  type WorkspaceProcess,
  type WorkspaceSpawnOptions,
} from "@tau-agent/rpc-protocol/workspace";
import type { CommandOutcome, ToolEnvironment } from "./environment.ts";
import type { OutputSink } from "./output-pump.ts";
import { environmentChanges } from "./process-environment.ts";
import { ProcessError } from "./process-error.ts";

export function commandVariables(
  { sessionVariables }: Pick<ToolEnvironment, "sessionVariables">,
  traceparent: string | undefined,
): Readonly<Record<string, string>> | undefined {
  const variables = sessionVariables?.();
  return traceparent === undefined ? variables : { ...variables, TRACEPARENT: traceparent };
}

export interface ShellCommand {
  readonly command: string;
  readonly sessionVariables?: Readonly<Record<string, string>> | undefined;
  /** Default: the workspace of the environment. */
  readonly workspace?: Workspace | undefined;
  /** The complete environment, instead of the workspace's. */
  readonly variables?: Readonly<Record<string, string | undefined>> | undefined;
  readonly onOutput: OutputSink;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** Starts the command, or continues with a running one; by default the workspace starts it. */
  readonly start?: ((options: WorkspaceSpawnOptions) => Promise<WorkspaceProcess>) | undefined;
  /** Called once the command runs, with a function that kills it and all its descendants, even after its own end. */
  readonly onStarted?: ((kill: () => void) => void) | undefined;
}

/**
 * Runs a command line in the session's shell and directory.
 *
 * @throws {ProcessError} the shell or the directory does not exist
 * @throws {WorkspaceError} the workspace cannot run it, or was lost
 */
export async function runShellCommand(
  environment: ToolEnvironment,
  request: ShellCommand,
): Promise<CommandOutcome> {
  const { command, workspace = environment.workspace, signal, timeoutMs } = request;
  const { onOutput, onStarted, start = (options) => workspace.spawn(options) } = request;
  const { sandbox } = environment;
  if (sandbox !== undefined && sandbox.workspaceId !== workspace.id) {
    const text = `Not run: the sandbox is for commands in ${sandbox.workspaceId}, not in ${workspace.id}.`;
    throw new ProcessError("sandbox_unavailable", text);
  }
  try {
    const running = await start({
      ...{ command: withPrefix(command, environment), cwd: environment.cwd, timeoutMs, signal },
      environment: changesOf(environment, request),
      onOutput: (bytes, stream) =>
        onOutput(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), stream),
    });
    onStarted?.(() => void running.kill("SIGKILL").catch(() => {}));
    return outcomeOf(await running.done, signal);
  } catch (error) {
    if (isWorkspaceError(error, "aborted")) return { kind: "aborted" };
    if (isWorkspaceError(error) && error.cause instanceof ProcessError) throw error.cause;
    if (!isWorkspaceError(error, "sandbox_unavailable")) throw error;
    throw new ProcessError("sandbox_unavailable", error.message, { cause: error });
  }
}

function withPrefix(command: string, { shellCommandPrefix: prefix }: ToolEnvironment): string {
  return prefix ? `${prefix}\n${command}` : command;
}

function changesOf(
  environment: ToolEnvironment,
  { variables, sessionVariables }: ShellCommand,
): Record<string, string | null> {
  const changes = environmentChanges(environment, sessionVariables);
  if (variables === undefined) return changes;
  const own = Object.keys(environment.environment).map((name) => [name, null] as const);
  const given = Object.entries(variables).map(([name, value]) => [name, value ?? null] as const);
  return { ...Object.fromEntries([...own, ...given]), ...changes };
}

function outcomeOf(
  { exitCode, signal, timedOut }: WorkspaceExit,
  abort: AbortSignal | undefined,
): CommandOutcome {
  if (timedOut) return { kind: "timed_out" };
  if (exitCode !== null) return { kind: "exited", exitCode };
  if (abort?.aborted) return { kind: "aborted" };
  return signal === undefined
    ? { kind: "unknown" }
    : { kind: "signalled", signal: signal as NodeJS.Signals };
}
