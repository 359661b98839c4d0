import { mkdirSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import type { JobInfo, JobOutput } from "@tau-agent/rpc-protocol";
import { errorMessage, SessionError } from "@tau-agent/rpc-protocol/plain";
import {
  type CommandOutcome,
  commandVariables,
  errorCode,
  makeFolderNow,
  randomHex,
  runShellCommand,
  type ToolEnvironment,
} from "@tau-agent/system";
import { createJobWriter, createMark } from "@tau-agent/system/durability";
import { killDetached, startDetached, writeEnd } from "./detached-job.ts";
import {
  describeJob,
  forgetOldJobs,
  isKept,
  type JobEnd,
  type JobRecord,
  jobFiles,
  readEnd,
  readRecord,
  readRecords,
} from "./job-record.ts";
import { readOutput } from "./read-output.ts";

export interface JobRequest {
  readonly command: string;
  /** Tells the model of its end. */
  readonly notify?: boolean | undefined;
  readonly detached?: boolean | undefined;
  /** None by default. */
  readonly timeoutMs?: number | undefined;
  readonly traceparent?: string | undefined;
  /** Keeps its command under this id. */
  readonly commandId?: string | undefined;
}

/** A job that has ended, with the end of its output. */
export interface EndedJob extends JobEnd {
  readonly record: JobRecord;
  readonly tail: string;
}

export interface RunningJobsOptions {
  readonly environment: ToolEnvironment;
  readonly onEnd: (job: EndedJob) => void;
}

/** Something of a job that this host runs or follows. */
interface LiveJob {
  readonly record: JobRecord;
  readonly folder: string;
  /** Fulfilled once its end is noted. */
  readonly ended: Promise<void>;
  /** Kills all of it, also what it left behind after its end. */
  readonly kill: () => void;
  runs: boolean;
}

/** The end of the output that a report of the job's end shows. */
const tailBytes = 2_000;
/** How often to look whether a detached job has ended. */
const pollMs = 200;

/** The jobs of a session, running in this process or found in its folder. */
export class RunningJobs {
  readonly #options: RunningJobsOptions;
  readonly #live = new Map<string, LiveJob>();
  #isClosed = false;

  constructor(options: RunningJobsOptions) {
    this.#options = options;
  }

  /**
   * Starts a job whose files go into a folder in `directory`.
   *
   * @throws {ProcessError} the shell or the directory is not there
   */
  async start(directory: string, request: JobRequest, promptId?: string): Promise<string> {
    const { jobId, folder } = createFolder(directory);
    const { command, notify, detached, commandId } = request;
    const record: JobRecord = {
      jobId,
      command,
      startedAt: Date.now(),
      ...(detached ? { detached, mark: createMark() } : {}),
      ...(notify ? { notify } : {}),
      ...(commandId === undefined ? {} : { commandId }),
      ...(promptId === undefined ? {} : { promptId }),
    };
    writeFileSync(join(folder, jobFiles.record), JSON.stringify(record), { mode: 0o600 });
    try {
      if (detached) {
        await startDetached(this.#options.environment, {
          ...{ folder, command, mark: record.mark ?? "", timeoutMs: request.timeoutMs },
          traceparent: request.traceparent,
        });
        this.#follow(folder, record);
      } else await this.#run(folder, record, request);
    } catch (error) {
      writeEnd(folder, { status: "exited", exitCode: 127, endedAt: Date.now() });
      writeFileSync(join(folder, jobFiles.reported), "");
      throw error;
    }
    forgetOldJobs(directory, (other) => this.#runs(join(directory, other.jobId), other));
    return jobId;
  }

  /** The jobs of this process and those recorded in a session's folder, oldest first. */
  list(directory: string): JobInfo[] {
    const known = new Map([...this.#live.values()].map(({ record, folder }) => [folder, record]));
    for (const record of readRecords(directory)) known.set(join(directory, record.jobId), record);
    return [...known]
      .sort(([, left], [, right]) => left.startedAt - right.startedAt)
      .map(([folder, record]) => this.#describe(folder, record));
  }

  /**
   * Output from an offset on; at most 50 KB, the end of it.
   *
   * @throws {SessionError} `job_not_found`
   */
  output(directory: string, jobId: string, offset?: number): JobOutput {
    const { folder, record } = this.#find(directory, jobId);
    // In this order: a job that has ended by then has said everything.
    const { status } = this.#describe(folder, record);
    return { jobId, status, ...readOutput(folder, offset === undefined ? {} : { offset }) };
  }

  /**
   * Kills a job with all that came from it; resolves once it has ended. Of a job that has ended,
   * what it left in the background.
   *
   * @throws {SessionError} `job_not_found`
   */
  async kill(directory: string, jobId: string): Promise<JobInfo> {
    const { folder, record } = this.#find(directory, jobId);
    this.#describe(folder, record);
    const live = this.#live.get(jobId);
    live?.kill();
    await live?.ended;
    return this.#describe(folder, record);
  }

  /** The job that was started with a kept command. */
  startedAs(directory: string, commandId: string): string | undefined {
    const found = readRecords(directory).find((record) => record.commandId === commandId);
    return found?.jobId;
  }

  /** The commands of jobs of an earlier host that may go on. */
  keptCommands(directory: string): readonly string[] {
    return readRecords(directory).flatMap((record) => {
      const isOver =
        record.detached === true || readEnd(join(directory, record.jobId)) !== undefined;
      return isOver || record.commandId === undefined ? [] : [record.commandId];
    });
  }

  /** Goes on with jobs of an earlier host; those whose commands are gone are lost. */
  async adoptAll(directory: string): Promise<void> {
    const { kept } = this.#options.environment;
    for (const record of kept === undefined ? [] : readRecords(directory)) {
      const folder = join(directory, record.jobId);
      const { commandId, detached } = record;
      const isOver = detached === true || readEnd(folder) !== undefined;
      if (commandId === undefined || isOver || this.#live.has(record.jobId)) continue;
      const { command } = record;
      await kept?.resume(commandId, () => this.#run(folder, record, { command })).catch(() => {});
    }
  }

  /** The host ends: what it kills now counts as lost later. */
  close(): void {
    this.#isClosed = true;
  }

  #find(directory: string, jobId: string): { folder: string; record: JobRecord } {
    const live = this.#live.get(jobId);
    if (live !== undefined) return live;
    const isName = /^job-[0-9a-f]+$/.test(jobId);
    const folder = join(directory, jobId);
    const record = isName ? readRecord(folder) : undefined;
    if (record === undefined) throw new SessionError("job_not_found", { jobId });
    return { folder, record };
  }

  /** A detached job of an earlier host is followed from here on. */
  #describe(folder: string, record: JobRecord): JobInfo {
    const isNew = record.detached === true && !this.#live.has(record.jobId);
    if (isNew && !this.#isClosed) this.#follow(folder, record);
    return describeJob(record, readEnd(folder), this.#runs(folder, record));
  }

  #runs(folder: string, record: JobRecord): boolean {
    const live = this.#live.get(record.jobId);
    if (record.detached === true) return readEnd(folder) === undefined && isKept(folder, record);
    return live?.runs ?? false;
  }

  async #run(folder: string, record: JobRecord, request: JobRequest): Promise<void> {
    const { environment } = this.#options;
    const writer = createJobWriter({ folder, mask: environment.createOutputMask?.() });
    const started = Promise.withResolvers<() => void>();
    const controller = new AbortController();
    const running = runShellCommand(environment, {
      command: record.command,
      sessionVariables: commandVariables(environment, request.traceparent),
      signal: controller.signal,
      timeoutMs: request.timeoutMs,
      onOutput: (chunk, stream) => {
        writer.add(chunk, stream);
        return undefined;
      },
      onStarted: started.resolve,
    });
    const killRest = await Promise.race([started.promise, running.then(() => () => {})]);
    const end = (outcome: CommandOutcome) => {
      writer.end();
      live.runs = false;
      if (this.#isClosed) return;
      writeEnd(folder, { ...endOf(outcome), endedAt: Date.now() });
      if (record.commandId !== undefined)
        environment.kept?.forget(record.commandId).catch(() => undefined);
      this.#report(folder, record);
    };
    const live: LiveJob = {
      ...{ record, folder, runs: true },
      kill: () => {
        controller.abort();
        killRest();
      },
      ended: running.then(
        end,
        // It had started only in a sandbox that could not be set up.
        (error: unknown) => {
          writer.add(Buffer.from(errorMessage(error)), "stderr");
          end({ kind: "exited", exitCode: 1 });
        },
      ),
    };
    this.#live.set(record.jobId, live);
  }

  /** Looks now and then whether a detached job has ended, and reports that once. */
  #follow(folder: string, record: JobRecord): void {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const look = (): boolean => {
      const hasEnded = readEnd(folder) !== undefined;
      if (!hasEnded && !this.#isClosed && isKept(folder, record)) return false;
      clearInterval(timer);
      live.runs = false;
      resolve();
      if (hasEnded && !this.#isClosed) this.#report(folder, record);
      return true;
    };
    const { SystemRoot } = this.#options.environment.environment;
    const live: LiveJob = {
      ...{ record, folder, ended, runs: true },
      kill: () => {
        if (readEnd(folder) === undefined && !isKept(folder, record)) return;
        killDetached(folder, record, SystemRoot);
        look();
      },
    };
    const timer = setInterval(look, pollMs).unref();
    this.#live.set(record.jobId, live);
    look();
  }

  #report(folder: string, record: JobRecord): void {
    const end = readEnd(folder);
    if (end === undefined) return;
    try {
      writeFileSync(join(folder, jobFiles.reported), "", { flag: "wx", mode: 0o600 });
    } catch (error) {
      if (errorCode(error) === "EEXIST") return;
    }
    const { output: tail } = readOutput(folder, { maxBytes: tailBytes });
    this.#options.onEnd({ ...end, record, tail });
  }
}

function createFolder(directory: string): { jobId: string; folder: string } {
  makeFolderNow(directory, 0o700);
  for (;;) {
    const jobId = `job-${randomHex(3)}`;
    const folder = join(directory, jobId);
    try {
      mkdirSync(folder, 0o700);
      return { jobId, folder };
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
  }
}

function endOf(outcome: CommandOutcome): Pick<JobEnd, "status" | "exitCode"> {
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
