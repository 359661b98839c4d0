import { constants } from "node:os";
import { join } from "node:path";
import type {
  SessionEvent,
  VerificationAttemptResult,
  VerificationCommandResult,
} from "@tau-agent/rpc-protocol";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import {
  type CommandOutcome,
  runShellCommand,
  type ToolEnvironment,
  truncateTail,
} from "@tau-agent/system";
import { OutputFile } from "./output-file.ts";
import type { VerifyCommand, VerifyPlan } from "./verify-config.ts";

/** One run of all commands in a plan. */
export interface VerificationRun {
  readonly id: string;
  readonly attempt: number;
  readonly plan: VerifyPlan;
  /** Its `cwd` is the isolated tree. */
  readonly environment: ToolEnvironment;
  readonly artifactsFolder: string;
  /** The prefix for file names in that folder. */
  readonly fileName: string;
  readonly signal: AbortSignal;
  readonly emit: (event: SessionEvent) => void | Promise<void>;
  /** Whether the budget has run out; no further command is started then. */
  readonly isBudgetExceeded: () => boolean;
}

const PREVIEW = { maxLines: 20, maxBytes: 4096 };
const TIMED_OUT = 124;
const NOT_STARTED = 127;

/**
 * Runs all commands one after another, even after a failure. Background processes that they leave
 * serve the later commands and end with the attempt.
 */
export async function runVerification(run: VerificationRun): Promise<VerificationAttemptResult> {
  const kills: (() => void)[] = [];
  try {
    return await runAttempt({ ...run, onStarted: (kill) => kills.push(kill) });
  } finally {
    for (const kill of kills) kill();
  }
}

type Attempt = VerificationRun & { readonly onStarted: (kill: () => void) => void };

async function runAttempt(run: Attempt): Promise<VerificationAttemptResult> {
  const { id, attempt, plan, signal, emit } = run;
  const startedAt = Date.now();
  const commandResults: VerificationCommandResult[] = [];
  const { profile } = plan;
  await emit({
    type: "subagent_verification_start",
    id,
    attempt,
    ...(profile !== undefined && { profile }),
  });
  for (const [index, command] of plan.commands.entries()) {
    if (signal.aborted || run.isBudgetExceeded()) break;
    await emit({
      type: "subagent_verification_command_start",
      id,
      attempt,
      commandName: command.name,
    });
    const result = await runCommand(run, command, index);
    commandResults.push(result);
    await emit({
      type: "subagent_verification_command_end",
      id,
      attempt,
      commandName: command.name,
      exitCode: result.exitCode,
      durationMs: result.durationMs,
      ...(result.artifactPath !== undefined && { artifactId: result.artifactPath }),
    });
  }
  const isBudgetExceeded = run.isBudgetExceeded();
  const isWhole = commandResults.length === plan.commands.length && !signal.aborted;
  const hasFailed = commandResults.some(({ exitCode, optional }) => exitCode !== 0 && !optional);
  const status = !isWhole ? "skipped" : hasFailed ? "failed" : "passed";
  const said = !isWhole && isBudgetExceeded ? "budget_exceeded" : status;
  await emit({ type: "subagent_verification_end", id, attempt, status: said });
  const error = isBudgetExceeded ? "The budget ran out." : "The task was aborted.";
  return {
    attempt,
    status,
    startedAt,
    endedAt: Date.now(),
    commandResults,
    ...(!isWhole && { error }),
  };
}

async function runCommand(
  { attempt, environment, artifactsFolder, fileName, signal, onStarted }: Attempt,
  { name, command, timeoutMs, optional }: VerifyCommand,
  index: number,
): Promise<VerificationCommandResult> {
  const startedAt = performance.now();
  const place = `${fileName}-verify-${attempt}-${index + 1}`;
  const file = `${place}-${name.replace(/[^\w.-]+/g, "-").slice(0, 40)}.log`;
  const output = new OutputFile(join(artifactsFolder, file));
  let outcome: CommandOutcome | undefined;
  let failure: string | undefined;
  try {
    outcome = await runShellCommand(environment, {
      command,
      signal,
      timeoutMs,
      onStarted,
      onOutput: (chunk) => output.write(chunk),
    });
  } catch (error) {
    failure = errorMessage(error);
  }
  const { path, tail } = await output.finish();
  const preview = failure ?? truncateTail(tail, PREVIEW).content;
  return {
    name,
    command,
    exitCode: outcome === undefined ? NOT_STARTED : exitCodeOf(outcome),
    durationMs: Math.round(performance.now() - startedAt),
    ...(optional && { optional }),
    ...(outcome?.kind === "timed_out" && { timedOut: true }),
    ...(path !== undefined && { artifactPath: path }),
    ...(preview !== "" && { outputPreview: preview }),
  };
}

function exitCodeOf(outcome: CommandOutcome): number {
  switch (outcome.kind) {
    case "exited":
      return outcome.exitCode;
    case "timed_out":
      return TIMED_OUT;
    case "signalled":
      return 128 + constants.signals[outcome.signal];
    case "aborted":
      return 130;
    case "unknown":
      return NOT_STARTED;
  }
}
