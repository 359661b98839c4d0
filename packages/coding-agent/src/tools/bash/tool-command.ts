import {
  type CommandOutcome,
  runShellCommand,
  type ShellCommand,
  type ToolEnvironment,
} from "@tau-agent/system";

/** A command line of the `bash` tool. */
export interface ToolCommand extends Omit<ShellCommand, "onStarted" | "workspace"> {
  readonly toolCallId: string;
  readonly signal: AbortSignal;
}

/**
 * Runs a command line where the session's commands run.
 *
 * @throws {ProcessError} the shell or the directory is not there
 */
export function runToolCommand(
  environment: ToolEnvironment,
  { toolCallId, ...request }: ToolCommand,
): Promise<CommandOutcome> {
  const workspace = environment.workspaceOf?.(toolCallId);
  return runShellCommand(environment, { ...request, workspace });
}
