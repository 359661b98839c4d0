import type { ToolEnvironment } from "../../processes/environment.ts";
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
 * Runs a command line in the session's shell and directory.
 *
 * @throws {ProcessError} the shell or the directory is not there
 */
export async function runShellCommand(
  environment: ToolEnvironment,
  request: ShellCommand,
): Promise<ProcessOutcome> {
  const shell = findShell(environment);
  const prefix = environment.shellCommandPrefix;
  return runProcess({
    file: shell,
    args: ["-c", prefix ? `${prefix}\n${request.command}` : request.command],
    cwd: environment.cwd,
    variables: processEnvironment(environment, request.sessionVariables),
    processes: environment.processes,
    onOutput: request.onOutput,
    signal: request.signal,
    timeoutMs: request.timeoutMs,
  });
}
