import { spawn } from "node:child_process";
import { linkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  childLimit,
  commandVariables,
  hasProcessGroups,
  hostLimit,
  isGroupAlive,
  keyMark,
  killProcesses,
  nobodys,
  ownersVariable,
  ProcessError,
  randomHex,
  shellProcess,
  type ToolEnvironment,
  withLimit,
} from "@tau-agent/system";
import { type JobEnd, type JobRecord, jobFiles, readKeeper } from "./job-record.ts";
import { createJobWriter } from "./job-writer.ts";
import { createMask, type KeepAnswer, type KeepRequest, keepJob, killMarked } from "./keep-job.ts";

export interface DetachedRequest {
  readonly folder: string;
  readonly command: string;
  readonly mark: string;
  readonly timeoutMs: number | undefined;
  readonly traceparent: string | undefined;
}

/** A mark for the processes of a job that belongs to no host. */
export function createMark(): string {
  return `${randomHex(8)}.1/`;
}

/**
 * Starts a job that outlives this host, under a process of its own that follows it.
 *
 * @throws {ProcessError} it could not be started
 */
export async function startDetached(
  environment: ToolEnvironment,
  { folder, command, mark, timeoutMs, traceparent }: DetachedRequest,
): Promise<void> {
  if (environment.sandbox !== undefined) {
    const text = "A detached job would outlive the sandbox. Start it without detached.";
    throw new ProcessError("sandbox_unavailable", text);
  }
  const sessionVariables = commandVariables(environment, traceparent);
  const { file, args, cwd, variables } = shellProcess(environment, { command, sessionVariables });
  const limit = limitOf(mark);
  const request: KeepRequest = {
    folder,
    file,
    args: limit === undefined ? args : withLimit(limit, file, args),
    cwd,
    // Not the marks of this host and those above it, whose end would kill the job.
    variables: { ...variables, [ownersVariable]: mark },
    mark,
    keys: environment.createOutputMask?.()?.keys ?? [],
    keyMark,
    timeoutMs,
  };
  const { SystemRoot } = environment.environment;
  const keeper = spawn(process.execPath, ["-e", keeperSource()], {
    cwd: folder,
    env: { ...nobodys, ...(SystemRoot === undefined ? {} : { SystemRoot }) },
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
    windowsHide: true,
  });
  keeper.stdin.on("error", () => {});
  keeper.stdin.end(JSON.stringify(request));
  try {
    const { error } = await answerOf(keeper);
    if (error !== undefined)
      throw new ProcessError("spawn_failed", `Cannot start ${file}: ${error}`);
  } finally {
    keeper.stdout.destroy();
    keeper.unref();
  }
}

/** Kills a detached job with all that came from it, and notes that it was killed. */
export function killDetached(folder: string, { mark }: JobRecord, systemRoot?: string): void {
  const end: JobEnd = { status: "killed", exitCode: null, endedAt: Date.now() };
  writeEnd(folder, end);
  const keeper = readKeeper(folder);
  const child = keeper?.childPid;
  const leaders = new Set(child !== undefined && isGroupAlive(child) ? [child] : []);
  const limit = mark === undefined ? undefined : limitOf(mark);
  killProcesses({ leaders, mark, limit, systemRoot });
}

/** Notes how a job ended, in one step; what was noted before stays. */
export function writeEnd(folder: string, end: JobEnd): void {
  const path = join(folder, jobFiles.end);
  const written = `${path}.${randomHex(4)}`;
  try {
    writeFileSync(written, JSON.stringify(end), { mode: 0o600 });
    linkSync(written, path);
  } catch {
    // Noted before, or the disk is full: then the job counts as lost once this host is gone.
  }
  rmSync(written, { force: true });
}

function limitOf(mark: string): string | undefined {
  if (!hasProcessGroups || process.platform !== "linux") return undefined;
  return childLimit(hostLimit(mark.slice(0, 16)), 1);
}

/** A program of its own: a bundle has no file to start. */
function keeperSource(): string {
  const parts = `{ createWriter: ${createJobWriter}, createMask: ${createMask}, killMarked: ${killMarked} }`;
  return `(${keepJob})(${parts})`;
}

async function answerOf(keeper: ReturnType<typeof spawn>): Promise<KeepAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<KeepAnswer>();
  let line = "";
  keeper.stdout?.on("data", (chunk: Buffer) => {
    line += chunk.toString();
    if (line.endsWith("\n")) resolve(JSON.parse(line) as KeepAnswer);
  });
  keeper.once("error", reject);
  keeper.once("exit", () => resolve({ error: "the process that follows it ended" }));
  return promise;
}
