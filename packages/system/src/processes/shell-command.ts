import type { ToolEnvironment } from "./environment.ts";
import type { OutputSink } from "./output-pump.ts";
import { type ProcessOutcome, type ProcessRequest, runProcess } from "./process.ts";
import { processEnvironment } from "./process-environment.ts";
import { findShell } from "./shell.ts";

export function commandVariables(
  { sessionVariables }: Pick<ToolEnvironment, "sessionVariables">,
  traceparent: string | undefined,
): Readonly<Record<string, string>> | undefined {
  const variables = sessionVariables?.();
  return traceparent === undefined ? variables : { ...variables, TRACEPARENT: traceparent };
}

export interface ShellLine {
  readonly command: string;
  readonly sessionVariables?: Readonly<Record<string, string>> | undefined;
}

export interface ShellCommand extends ShellLine, Pick<ProcessRequest, "onStarted"> {
  readonly onOutput: OutputSink;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/**
 * Runs a command line in the session's shell and directory.
 *
 * @throws {ProcessError} the shell or the directory is not there
 */
export async function runShellCommand(
  environment: ToolEnvironment,
  { command, sessionVariables, ...request }: ShellCommand,
): Promise<ProcessOutcome> {
  return runProcess({
    ...shellProcess(environment, { command, sessionVariables }),
    ...request,
    processes: environment.processes,
    sandbox: environment.sandbox,
  });
}

/**
 * The process that runs a command line.
 *
 * @throws {ProcessError} there is no shell
 */
export function shellProcess(
  environment: ToolEnvironment,
  { command, sessionVariables }: ShellLine,
): Required<Pick<ProcessRequest, "file" | "args" | "variables">> & { readonly cwd: string } {
  const prefix = environment.shellCommandPrefix;
  return {
    file: findShell(environment),
    args: ["-c", prefix ? `${prefix}\n${command}` : command],
    cwd: environment.cwd,
    variables: processEnvironment(environment, sessionVariables),
  };
}
