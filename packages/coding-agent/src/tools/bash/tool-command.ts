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
 * Runs a command line in the same place as the session's commands.
 *
 * @throws {ProcessError} if the shell or the directory does not exist
 */
export function runToolCommand(
  environment: ToolEnvironment,
  { toolCallId, ...request }: ToolCommand,
): Promise<CommandOutcome> {
  const workspace = environment.workspaceOf?.(toolCallId);
  return runShellCommand(environment, { ...request, workspace });
}
