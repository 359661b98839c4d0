import { open } from "node:fs/promises";
import type { VerificationAttemptResult, VerificationResult } from "@tau-agent/rpc-protocol";
import { truncateTail } from "../../processes/truncate.ts";
import type { CapturedWork } from "../isolation/index.ts";
import type { SubagentReply } from "../runners/subagent-runner.ts";
import { runVerification, type VerificationRun } from "./run-verification.ts";

/** Of one command's output; lines may be long, and a subagent's window is not. */
const MAX_CONTEXT_BYTES = 128 * 1024;

/** A verification with its repairs. */
export interface VerifiedWork extends Omit<VerificationRun, "attempt"> {
  /** Lines of a failure's output that a repair is shown. */
  readonly contextLineLimit: number;
  /** The state of the tree as it is to be verified. */
  readonly capture: () => Promise<CapturedWork>;
  /** Takes back what commands did to the tree since then. */
  readonly restore: (work: CapturedWork) => Promise<void>;
  /** Hands a failure to the subagent that did the work. */
  readonly repair: (text: string) => Promise<SubagentReply>;
}

/**
 * Verifies what a subagent did; with `retry_once`, has it repaired and verifies again. The tree is
 * captured before each attempt, so that what is handed out is exactly what was checked.
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

/** From what was checked: what commands left in the tree is not the subagent's work. */
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

/** The end of a file, which may be larger than anybody wants in memory. */
async function readEnd(path: string): Promise<string> {
  await using file = await open(path);
  const { size } = await file.stat();
  const length = Math.min(size, 2 * MAX_CONTEXT_BYTES);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
  return buffer.toString("utf8", 0, bytesRead);
}
