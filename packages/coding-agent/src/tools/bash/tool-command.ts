import {
  type CommandOutcome,
  runShellCommand,
  type ShellCommand,
  shellProcess,
  type ToolEnvironment,
} from "@tau-agent/system";

/** A command line of the `bash` tool. */
export interface ToolCommand extends Omit<ShellCommand, "onStarted"> {
  readonly toolCallId: string;
  readonly signal: AbortSignal;
}

/**
 * Runs a command line where the session's commands run, which may be elsewhere.
 *
 * @throws {ProcessError} the shell or the directory is not there
 */
export async function runToolCommand(
  environment: ToolEnvironment,
  { toolCallId, ...request }: ToolCommand,
): Promise<CommandOutcome> {
  const { runCommand } = environment;
  // Where the client runs it, no sandbox of this host is around it.
  if (runCommand === undefined || environment.sandbox !== undefined)
    return runShellCommand(environment, request);
  const { command: _, sessionVariables: __, ...rest } = request;
  const { variables, ...process } = shellProcess(environment, request);
  const changed = changedVariables(variables, environment.environment);
  return runCommand({ ...rest, ...process, toolCallId, variables: changed });
}

/** What a command's environment has that the host's has not; what it is to be without is empty. */
function changedVariables(
  wanted: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const changed = Object.entries(wanted).filter(([name, value]) => own[name] !== value);
  const removed = Object.keys(own).filter((name) => own[name] && wanted[name] === undefined);
  return Object.fromEntries([...changed, ...removed.map((name) => [name, ""] as const)]);
}
