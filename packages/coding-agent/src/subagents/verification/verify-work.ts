import { open } from "node:fs/promises";
import type { VerificationAttemptResult, VerificationResult } from "@tau-agent/rpc-protocol";
import { truncateTail } from "@tau-agent/system";
import type { CapturedWork } from "@tau-agent/worktrees";
import type { SubagentReply } from "../runners/subagent-runner.ts";
import { runVerification, type VerificationRun } from "./run-verification.ts";

/** The maximum bytes of a command's output to show: lines may be long, and the subagent's context window is limited. */
const MAX_CONTEXT_BYTES = 128 * 1024;

export interface VerifiedWork extends Omit<VerificationRun, "attempt"> {
  /** How many lines of a failed command's output a repair prompt shows. */
  readonly contextLineLimit: number;
  readonly capture: () => Promise<CapturedWork>;
  readonly restore: (work: CapturedWork) => Promise<void>;
  readonly repair: (text: string) => Promise<SubagentReply>;
}

/**
 * Verifies the work of a subagent; with `retry_once`, has it repaired and verifies again. Captures
 * the tree before each attempt, so that the returned work is exactly what was checked.
 */
export async function verifyWork(work: VerifiedWork): Promise<{
  tree: CapturedWork;
  verification: VerificationResult;
  lastReply?: SubagentReply;
}> {
  const { plan, signal } = work;
  const attempts: VerificationAttemptResult[] = [];
  let lastReply: SubagentReply | undefined;
  let retriesUsed = 0;
  for (;;) {
    const tree = await work.capture();
    const attempt = await runVerification({ ...work, attempt: attempts.length + 1 });
    attempts.push(attempt);
    const mayRepair =
      attempt.status === "failed" &&
      plan.onFailure === "retry_once" &&
      retriesUsed < plan.maxRetries &&
      !signal.aborted &&
      !work.isBudgetExceeded();
    const reply = mayRepair ? await repair(attempt, tree, work) : undefined;
    if (reply !== undefined) retriesUsed += 1;
    if (reply?.status === "completed") {
      lastReply = reply;
      continue;
    }
    if (reply !== undefined) {
      const error = `The repair failed: ${reply.error ?? reply.status}`;
      attempts.splice(-1, 1, { ...attempt, error });
    }
    const { profile, mode, onFailure } = plan;
    return {
      tree,
      verification: {
        requested: true,
        ...(profile !== undefined && { profile }),
        mode,
        status: attempt.status,
        attempts,
        retriesUsed,
        onFailure,
      },
      ...(lastReply !== undefined && { lastReply }),
    };
  }
}

/** Starts from the checked state, because files that commands left are not the subagent's work. */
async function repair(
  attempt: VerificationAttemptResult,
  tree: CapturedWork,
  work: VerifiedWork,
): Promise<SubagentReply> {
  await work.restore(tree).catch(() => undefined);
  return work.repair(await repairText(attempt, work));
}

async function repairText(
  { commandResults }: VerificationAttemptResult,
  { contextLineLimit }: VerifiedWork,
): Promise<string> {
  const parts: string[] = [];
  for (const result of commandResults) {
    if (result.exitCode === 0 || result.optional) continue;
    const { artifactPath, outputPreview = "" } = result;
    const output =
      artifactPath === undefined
        ? outputPreview
        : await readEnd(artifactPath).catch(() => outputPreview);
    const limits = { maxLines: Math.max(1, contextLineLimit), maxBytes: MAX_CONTEXT_BYTES };
    const { content } = truncateTail(output, limits);
    const how = result.timedOut ? "ran out of time" : `failed with exit code ${result.exitCode}`;
    parts.push(`${result.name} (${result.command}) ${how}:\n${content.trimEnd()}`);
  }
  return `Your work was checked and does not pass yet. Repair it; the same checks run again afterwards.\n\n${parts.join("\n\n")}`;
}

/** Reads the end of a file that may be too large for memory. */
async function readEnd(path: string): Promise<string> {
  await using file = await open(path);
  const { size } = await file.stat();
  const length = Math.min(size, 2 * MAX_CONTEXT_BYTES);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
  return buffer.toString("utf8", 0, bytesRead);
}
