import { readFile } from "node:fs/promises";
import type { VerificationAttemptResult, VerificationResult } from "@tau-agent/rpc-protocol";
import { splitLines } from "../../tools/truncate.ts";
import type { CapturedWork } from "../isolation/isolated-tree.ts";
import type { SubagentReply } from "../subagent-runner.ts";
import { runVerification, type VerificationRun } from "./run-verification.ts";

/** A verification with its repairs. */
export interface VerifiedWork extends Omit<VerificationRun, "attempt"> {
  /** Lines of a failure's output that a repair is shown. */
  readonly contextLineLimit: number;
  /** The state of the tree as it is to be verified. */
  readonly capture: () => Promise<CapturedWork>;
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
    const reply = mayRepair ? await work.repair(await repairText(attempt, work)) : undefined;
    if (reply !== undefined) retriesUsed += 1;
    if (reply?.status === "completed") {
      lastReply = reply;
      continue;
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
        : await readFile(artifactPath, "utf8").catch(() => outputPreview);
    const lines = splitLines(output).slice(-Math.max(1, contextLineLimit));
    const how = result.timedOut ? "ran out of time" : `failed with exit code ${result.exitCode}`;
    parts.push(`${result.name} (${result.command}) ${how}:\n${lines.join("\n")}`);
  }
  return `Your work was checked and does not pass yet. Repair it; the same checks run again afterwards.\n\n${parts.join("\n\n")}`;
}
