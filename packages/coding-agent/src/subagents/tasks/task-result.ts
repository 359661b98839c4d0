import type { VerificationResult } from "@tau-agent/rpc-protocol";
import type { Consumption } from "../../session-log/consumption.ts";
import type { KeptCommits, KeptFile, PatchStatistics } from "../isolation/index.ts";

/** How one task ended. */
export type TaskStatus = "completed" | "failed" | "aborted" | "timed_out" | "budget_exceeded";

/** What happened to the changes of an isolated task. */
export interface TaskPatch extends PatchStatistics {
  /** The patch file; absent when the work was discarded or nothing changed. */
  readonly path?: string | undefined;
  readonly status: "applied" | "branch" | "conflict" | "kept" | "discarded" | "empty";
  readonly branch?: string | undefined;
  /** Why it was not applied. */
  readonly reason?: string | undefined;
  /** Submodules whose changes are in the patch file only: not checked out here, or not on a branch. */
  readonly unmerged?: readonly string[] | undefined;
}

/** What came of one task. */
export interface TaskResult {
  readonly id: string;
  readonly agent: string;
  readonly description?: string | undefined;
  readonly status: TaskStatus;
  /** 0 when all went well, its verification and the merge of its changes included. */
  readonly exitCode: number;
  /** Its last message; the end of it when it was too long. */
  readonly output: string;
  readonly outputTruncated?: boolean | undefined;
  /** Where all of a truncated output is. */
  readonly outputPath?: string | undefined;
  readonly error?: string | undefined;
  /** The value that fits `outputSchema`, and how often it was asked for. */
  readonly answer?: { readonly value?: unknown; readonly attempts: number } | undefined;
  readonly isolated: boolean;
  readonly patch?: TaskPatch | undefined;
  /** `patch.path` and `patch.branch` under the names that oh-my-pi's clients read. */
  readonly patchPath?: string | undefined;
  readonly branchName?: string | undefined;
  /** What it made that is in no patch: too large, or unreadable. */
  readonly leftOut?: readonly KeptFile[] | undefined;
  /** Branches, tags and commits it made, which only its own tree had. */
  readonly commits?: KeptCommits | undefined;
  readonly verification?: VerificationResult | undefined;
  readonly sessionFile?: string | undefined;
  readonly used: Consumption;
  readonly durationMs: number;
}

/** A result with its patch file and branch under the names that oh-my-pi's clients read. */
export function withPatchNames(result: TaskResult): TaskResult {
  const { path, branch } = result.patch ?? {};
  return {
    ...result,
    ...(path !== undefined && { patchPath: path }),
    ...(branch !== undefined && { branchName: branch }),
  };
}

const exitCodes: Record<TaskStatus, number> = {
  completed: 0,
  failed: 1,
  aborted: 130,
  timed_out: 124,
  budget_exceeded: 1,
};

/** The exit code of a task, as if it had been a command. */
export function exitCodeOf(
  status: TaskStatus,
  verification: VerificationResult | undefined,
): number {
  return status === "completed" && verification?.status === "failed" ? 1 : exitCodes[status];
}

/** What a task without a working start ends with. */
export function unstartedResult(
  task: { id: string; agent: string; description?: string | undefined; isolated: boolean },
  ending: { status: TaskStatus; error: string; used: Consumption },
): TaskResult {
  return { ...task, ...ending, exitCode: exitCodes[ending.status], output: "", durationMs: 0 };
}
