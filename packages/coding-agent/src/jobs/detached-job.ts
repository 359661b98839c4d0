import { linkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  commandVariables,
  isGroupAlive,
  keyMark,
  killProcesses,
  ownersVariable,
  ProcessError,
  randomHex,
  shellProcess,
  type ToolEnvironment,
  withLimit,
} from "@tau-agent/system";
import { KeeperError, KeeperProcess, limitOf } from "@tau-agent/system/durability";
import { type JobEnd, type JobRecord, jobFiles, readKeeper } from "./job-record.ts";

export interface DetachedRequest {
  readonly folder: string;
  readonly command: string;
  readonly mark: string;
  readonly timeoutMs: number | undefined;
  readonly traceparent: string | undefined;
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
  const job = { keys: environment.createOutputMask?.()?.keys ?? [], keyMark };
  const keeper = new KeeperProcess(environment.environment);
  try {
    await keeper.start({
      ...{ id: mark, folder, file, cwd, mark, timeoutMs, job },
      args: limit === undefined ? args : withLimit(limit, file, args),
      // Not the marks of this host and those above it, whose end would kill the job.
      variables: { ...variables, [ownersVariable]: mark },
    });
  } catch (error) {
    if (!(error instanceof KeeperError)) throw error;
    const text = `Cannot start ${file}: ${error.message}`;
    throw new ProcessError("spawn_failed", text, { cause: error });
  } finally {
    keeper.leave();
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
