import { errorMessage, SessionError } from "@tau-agent/rpc-protocol/plain";
import type { Environment, ProcessOutcome, ProcessRegistry } from "@tau-agent/system";
import type { CommandRunner } from "./config-value.ts";

const outputLimitBytes = 64 * 1024;

export interface CommandRunnerOptions {
  /** Ends the commands together with the host. */
  readonly processes: ProcessRegistry;
  /** Time limit of a command; default 10 s. */
  readonly timeoutMs?: number | undefined;
}

function fail(reason: string): SessionError {
  return new SessionError("bash_failed", { reason });
}

async function run(
  command: string,
  environment: Environment,
  { processes, timeoutMs = 10_000 }: CommandRunnerOptions,
): Promise<string> {
  // Loaded with the first command, because most hosts have none.
  const { runProcess } = await import("@tau-agent/system/process");
  const chunks: Buffer[] = [];
  let size = 0;
  const outcome = await runProcess({
    file: command,
    args: [],
    isCommandLine: true,
    variables: defined(environment),
    processes,
    timeoutMs,
    onOutput: (chunk, stream) => {
      if (stream === "stderr") return undefined;
      size += chunk.length;
      if (size <= outputLimitBytes) chunks.push(chunk);
      return undefined;
    },
  }).catch((error: unknown) => {
    throw fail(errorMessage(error));
  });
  const failure = failureOf(outcome, timeoutMs);
  if (failure !== undefined) throw fail(failure);
  return Buffer.concat(chunks).toString("utf8");
}

function failureOf(outcome: ProcessOutcome, timeoutMs: number): string | undefined {
  switch (outcome.kind) {
    case "exited":
      return outcome.exitCode === 0 ? undefined : `it ended with exit code ${outcome.exitCode}`;
    case "signalled":
      return `it ended with signal ${outcome.signal}`;
    case "timed_out":
      return `it took longer than ${timeoutMs} ms`;
    case "aborted":
      return "it was aborted";
  }
}

function defined(environment: Environment): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined) variables[name] = value;
  }
  return variables;
}

/**
 * A runner for `!command` values: each call runs the command again, but concurrent calls share one
 * result. The command has no stdin.
 */
export function createCommandRunner(options: CommandRunnerOptions): CommandRunner {
  const running = new Map<string, Promise<string>>();
  return (command, environment) => {
    const known = running.get(command);
    if (known !== undefined) return known;
    const result = run(command, environment, options).finally(() => running.delete(command));
    running.set(command, result);
    return result;
  };
}
