import type { VerificationResult } from "@tau-agent/rpc-protocol";
import type { Consumption } from "@tau-agent/sessions/log";
import type { KeptCommits, KeptFile, PatchStatistics } from "@tau-agent/worktrees";

export type TaskStatus = "completed" | "failed" | "aborted" | "timed_out" | "budget_exceeded";

export interface TaskPatch extends PatchStatistics {
  /** The patch file; absent if the work was discarded or nothing changed. */
  readonly path?: string | undefined;
  readonly status: "applied" | "branch" | "conflict" | "kept" | "discarded" | "empty";
  readonly branch?: string | undefined;
  /** Why the patch was not applied. */
  readonly reason?: string | undefined;
  /** Submodules whose changes are only in the patch file, because they are not checked out here or not on a branch. */
  readonly unmerged?: readonly string[] | undefined;
}

export interface TaskResult {
  readonly id: string;
  readonly agent: string;
  readonly description?: string | undefined;
  readonly status: TaskStatus;
  /** 0 if everything succeeded, including verification and merge. */
  readonly exitCode: number;
  /** Its last message, or the end of it if it was too long. */
  readonly output: string;
  readonly outputTruncated?: boolean | undefined;
  /** The file with the complete output, if it was truncated. */
  readonly outputPath?: string | undefined;
  readonly error?: string | undefined;
  /** The value that fits `outputSchema`, and the number of attempts. */
  readonly answer?: { readonly value?: unknown; readonly attempts: number } | undefined;
  /** Whether the subagent has read foreign text. */
  readonly untrusted?: boolean | undefined;
  readonly isolated: boolean;
  readonly patch?: TaskPatch | undefined;
  /** `patch.path` and `patch.branch` under the names that clients of oh-my-pi read. */
  readonly patchPath?: string | undefined;
  readonly branchName?: string | undefined;
  /** Files that a patch cannot contain: too large, or unreadable. */
  readonly leftOut?: readonly KeptFile[] | undefined;
  readonly commits?: KeptCommits | undefined;
  readonly verification?: VerificationResult | undefined;
  readonly sessionFile?: string | undefined;
  /** Identifies its session in the store of the caller's session. */
  readonly storedSession?: string | undefined;
  readonly used: Consumption;
  readonly durationMs: number;
}

/** Adds the patch file and branch under the names that clients of oh-my-pi read. */
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

export function exitCodeOf(
  status: TaskStatus,
  verification: VerificationResult | undefined,
): number {
  return status === "completed" && verification?.status === "failed" ? 1 : exitCodes[status];
}

/** The result of a task that could not start. */
export function unstartedResult(
  task: { id: string; agent: string; description?: string | undefined; isolated: boolean },
  ending: { status: TaskStatus; error: string; used: Consumption },
): TaskResult {
  return { ...task, ...ending, exitCode: exitCodes[ending.status], output: "", durationMs: 0 };
}
