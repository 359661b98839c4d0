import type { CommandOutcome, ToolEnvironment } from "../../processes/environment.ts";
import type { OutputSink } from "../../processes/output-pump.ts";
import { type ProcessOutcome, runProcess } from "../../processes/process.ts";
import { processEnvironment } from "../../processes/process-environment.ts";
import { findShell } from "../../processes/shell.ts";

/** A command line for the shell. */
export interface ShellCommand {
  readonly command: string;
  readonly onOutput: OutputSink;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly sessionVariables?: Readonly<Record<string, string>> | undefined;
}

/**
 * Runs a command line of the `bash` tool: where the session's commands run, which may be elsewhere.
 *
 * @throws {ProcessError} the shell or the directory is not there
 */
export async function runToolCommand(
  environment: ToolEnvironment,
  request: ShellCommand & { readonly signal: AbortSignal; readonly toolCallId: string },
): Promise<CommandOutcome> {
  const { runCommand } = environment;
  if (runCommand === undefined) return runShellCommand(environment, request);
  const { command, sessionVariables, ...rest } = request;
  return runCommand({
    ...rest,
    ...shellCall(environment, command),
    cwd: environment.cwd,
    variables: changedVariables(environment, sessionVariables),
  });
}

/**
 * Runs a command line in the session's shell and directory.
 *
 * @throws {ProcessError} the shell or the directory is not there
 */
export async function runShellCommand(
  environment: ToolEnvironment,
  request: ShellCommand,
): Promise<ProcessOutcome> {
  return runProcess({
    ...shellCall(environment, request.command),
    cwd: environment.cwd,
    variables: processEnvironment(environment, request.sessionVariables),
    processes: environment.processes,
    onOutput: request.onOutput,
    signal: request.signal,
    timeoutMs: request.timeoutMs,
  });
}

function shellCall(environment: ToolEnvironment, command: string) {
  const prefix = environment.shellCommandPrefix;
  const line = prefix ? `${prefix}\n${command}` : command;
  return { file: findShell(environment), args: ["-c", line] };
}

/** What a command's environment has that the host's has not; what it is to be without is empty. */
function changedVariables(
  environment: ToolEnvironment,
  sessionVariables: ShellCommand["sessionVariables"],
): Record<string, string> {
  const wanted = processEnvironment(environment, sessionVariables);
  const own = environment.environment;
  const changed = Object.entries(wanted).filter(([name, value]) => own[name] !== value);
  const removed = Object.keys(own).filter((name) => own[name] && wanted[name] === undefined);
  return { ...Object.fromEntries(changed), ...Object.fromEntries(removed.map((n) => [n, ""])) };
}
