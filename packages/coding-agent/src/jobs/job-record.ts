import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { JobInfo, JobStatus } from "@tau-agent/rpc-protocol";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { attempt, isAlive, type ProcessIdentity } from "@tau-agent/system";

export interface JobRecord {
  readonly jobId: string;
  readonly command: string;
  /** In ms since the epoch. */
  readonly startedAt: number;
  readonly detached?: boolean;
  /** The model gets a message when it ends. */
  readonly notify?: boolean;
  readonly promptId?: string | undefined;
  /** The command that goes on when its host dies. */
  readonly commandId?: string | undefined;
  /** What the environment of its processes carries, if it is detached. */
  readonly mark?: string;
}

export interface JobEnd {
  readonly status: Exclude<JobStatus, "running" | "lost">;
  readonly exitCode: number | null;
  /** In ms since the epoch. */
  readonly endedAt: number;
}

/** The processes of a detached job (`keeper.json`): the one that follows its output and end, and its own. */
export interface JobKeeper extends ProcessIdentity {
  /** The job itself, the leader of its process group. */
  readonly childPid: number;
}

/** The names of a job's files in its folder; output is in files of its own. */
export const jobFiles = {
  record: "job.json",
  end: "end.json",
  keeper: "keeper.json",
  /** Exists once the end was reported. */
  reported: "reported",
} as const;

/** How many jobs of a session keep their records and output once they have ended. */
const maxEnded = 100;
/** A keeper that has not written its file after this time never will. */
const keeperStartMs = 10_000;

/** The jobs recorded in a session's folder, oldest first. */
export function readRecords(directory: string): readonly JobRecord[] {
  const names = attempt(() => readdirSync(directory)) ?? [];
  const records = names.flatMap((name) => readRecord(join(directory, name)) ?? []);
  return records.sort((left, right) => left.startedAt - right.startedAt);
}

/** The record in a job's folder; undefined if there is none. */
export function readRecord(folder: string): JobRecord | undefined {
  const value = readJson(join(folder, jobFiles.record));
  return isJsonObject(value) && typeof value.jobId === "string"
    ? (value as unknown as JobRecord)
    : undefined;
}

/** How the job of a folder ended; undefined while it runs, or if its host was killed first. */
export function readEnd(folder: string): JobEnd | undefined {
  const value = readJson(join(folder, jobFiles.end));
  return isJsonObject(value) ? (value as unknown as JobEnd) : undefined;
}

export function readKeeper(folder: string): JobKeeper | undefined {
  const value = readJson(join(folder, jobFiles.keeper));
  return isJsonObject(value) ? (value as unknown as JobKeeper) : undefined;
}

export function isKept(folder: string, { startedAt }: JobRecord): boolean {
  const keeper = readKeeper(folder);
  if (keeper === undefined) return Math.abs(Date.now() - startedAt) < keeperStartMs;
  return isAlive(keeper);
}

export function describeJob(record: JobRecord, end: JobEnd | undefined, runs: boolean): JobInfo {
  const { jobId, command, startedAt } = record;
  if (end === undefined) {
    return { jobId, command, status: runs ? "running" : "lost", startedAt };
  }
  const durationMs = end.endedAt - startedAt;
  const exitCode = end.exitCode === null ? {} : { exitCode: end.exitCode };
  return { jobId, command, status: end.status, startedAt, ...exitCode, durationMs };
}

/** Removes the oldest jobs that have ended, once there are too many. */
export function forgetOldJobs(directory: string, isRunning: (record: JobRecord) => boolean): void {
  const ended = readRecords(directory).filter((record) => !isRunning(record));
  for (const { jobId } of ended.slice(0, Math.max(0, ended.length - maxEnded))) {
    rmSync(join(directory, jobId), { recursive: true, force: true });
  }
}

function readJson(path: string): unknown {
  // Missing, or cut because its writer was killed.
  return attempt(() => JSON.parse(readFileSync(path, "utf8")));
}
