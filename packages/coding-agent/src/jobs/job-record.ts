import { constants } from "node:os";
import type { JobInfo, JobStatus } from "@tau-agent/rpc-protocol";
import type { CommandOutcome } from "@tau-agent/system";

export interface JobRecord {
  readonly jobId: string;
  readonly command: string;
  /** In ms since the epoch. */
  readonly startedAt: number;
  readonly detached?: boolean;
  /** Whether its command is kept separately, so that it outlives this host or its connection. */
  readonly isKept?: boolean;
  /** Whether the model gets a message when it ends. */
  readonly notify?: boolean;
  readonly promptId?: string | undefined;
  /** The kept command of a call, which continues when its host dies. */
  readonly commandId?: string | undefined;
}

export interface JobEnd {
  readonly status: Exclude<JobStatus, "running">;
  readonly exitCode: number | null;
  /** In ms since the epoch. */
  readonly endedAt: number;
}

/** The end of a job, from the outcome of its command. */
export function endOf(outcome: CommandOutcome): Pick<JobEnd, "status" | "exitCode"> {
  switch (outcome.kind) {
    case "exited":
      return { status: "exited", exitCode: outcome.exitCode };
    case "signalled":
      return { status: "exited", exitCode: 128 + constants.signals[outcome.signal] };
    case "timed_out":
      return { status: "timeout", exitCode: null };
    case "aborted":
      return { status: "killed", exitCode: null };
    case "unknown":
      return { status: "exited", exitCode: null };
  }
}

/** The end of a job whose host, connection or keeper ended first. */
export const lostNow = (): JobEnd => ({ status: "lost", exitCode: null, endedAt: Date.now() });

export function describeJob(
  { jobId, command, startedAt }: JobRecord,
  end: JobEnd | undefined,
  runs: boolean,
): JobInfo {
  if (end === undefined || end.status === "lost") {
    return { jobId, command, status: end === undefined && runs ? "running" : "lost", startedAt };
  }
  const durationMs = end.endedAt - startedAt;
  const exitCode = end.exitCode === null ? {} : { exitCode: end.exitCode };
  return { jobId, command, status: end.status, startedAt, ...exitCode, durationMs };
}
