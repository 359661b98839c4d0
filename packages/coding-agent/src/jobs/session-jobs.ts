import type { JobInfo, JobOutput, SessionEvent } from "@tau-agent/rpc-protocol";
import type { CustomMessage } from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { SparseMap, type ToolEnvironment } from "@tau-agent/system";
import { JOB_NOTICE_TYPE } from "../foreign-text/after-untrusted.ts";
import type { JobPlace } from "./job-folders.ts";
import type { EndedJob, JobRequest, RunningJobs, StartedJob } from "./running-jobs.ts";

export interface JobSession {
  readonly id: string;
  readonly promptId: string | undefined;
  report(event: SessionEvent, promptId: string | undefined): void;
  /** Sends the model a message with its next turn; while idle, starts a run with it. */
  notify(message: CustomMessage): void;
}

export interface SessionJobsOptions {
  readonly environment: ToolEnvironment;
  readonly place: JobPlace;
  readonly allowsDetached: () => boolean;
  readonly session: () => JobSession;
  /** Makes the tools for jobs available to the model. */
  readonly offerTools?: (() => OfferedTools) | undefined;
}

/** The tools with which the model can follow a job. */
export interface OfferedTools {
  readonly names: readonly string[];
  /** Whether they are called with `call_tool`, because the model accepts no new declarations. */
  readonly areCalledByName: boolean;
}

/**
 * The background commands of a session: they continue across turns and runs, and end with the host. The code that runs
 * them is loaded with the first one.
 */
export class SessionJobs {
  readonly #options: SessionJobsOptions;
  #running: Promise<RunningJobs> | undefined;
  /** The session in which each job of this process was started. */
  readonly #owners = new SparseMap<string, string>();
  #isClosed = false;

  constructor(options: SessionJobsOptions) {
    this.#options = options;
  }

  /**
   * Starts a command in the background and returns the job's id.
   *
   * @throws {SessionError} `job_not_detachable`, `disposed`
   * @throws {ProcessError} if the shell or the directory does not exist
   */
  async start(request: JobRequest): Promise<string> {
    if (request.detached && !this.#options.allowsDetached()) {
      throw new SessionError("job_not_detachable");
    }
    const { id, promptId } = this.#options.session();
    const running = await this.#load();
    if (this.#isClosed) throw new SessionError("disposed");
    const jobId = await running.start(await this.#directory(), request, promptId);
    this.#owners.set(jobId, id);
    return jobId;
  }

  /** Whether a job may outlive the host. */
  get allowsDetached(): boolean {
    return this.#options.allowsDetached();
  }

  /** Lets the model follow the job that it started. */
  offerTools(): OfferedTools {
    return this.#options.offerTools?.() ?? { names: [], areCalledByName: false };
  }

  /** The session's jobs, oldest first. */
  async list(): Promise<JobInfo[]> {
    const running = await this.#load();
    return running.list(await this.#directory());
  }

  /**
   * The output from `offset` on, in bytes since the start; if there are more than 50 KB, only the end.
   *
   * @throws {SessionError} `job_not_found`
   */
  async output(jobId: string, offset?: number): Promise<JobOutput> {
    const running = await this.#load();
    return running.output(await this.#directory(), jobId, offset);
  }

  /**
   * Kills a job with all its processes, and resolves once it has ended.
   *
   * @throws {SessionError} `job_not_found`
   */
  async kill(jobId: string): Promise<JobInfo> {
    const running = await this.#load();
    return running.kill(await this.#directory(), jobId);
  }

  /** Finds the jobs of an earlier host that may still run, and reports those that have ended since. */
  async findKept(): Promise<void> {
    if (this.#isClosed || this.#options.place.workspace.durable === undefined) return;
    if (await this.#areThere()) await this.list();
  }

  /** The job that a call recorded for a kept command. */
  async startedAs(commandId: string): Promise<StartedJob | undefined> {
    return (await this.#load()).startedAs(await this.#directory(), commandId);
  }

  /** The commands of an earlier host's jobs that may continue. */
  async keptCommands(): Promise<readonly string[]> {
    if (!(await this.#areThere())) return [];
    return (await this.#load()).keptCommands(await this.#directory());
  }

  /** Takes over the jobs of an earlier host. */
  async adoptAll(): Promise<void> {
    if (!(await this.#areThere())) return;
    await (await this.#load()).adoptAll(await this.#directory());
  }

  /** Ends with the host and kills its jobs: their ends are neither recorded nor reported. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#running)?.close();
  }

  async #directory(): Promise<string> {
    const { place, session } = this.#options;
    return place.path.join(place.directory, await folderName(session().id));
  }

  /** Whether the session has jobs, so that the code for them must be loaded. */
  async #areThere(): Promise<boolean> {
    return (await this.#options.place.workspace.stat(await this.#directory())) !== undefined;
  }

  #load(): Promise<RunningJobs> {
    this.#running ??= import("./running-jobs.ts").then(({ RunningJobs: Jobs }) => {
      const jobs = new Jobs({
        environment: this.#options.environment,
        place: this.#options.place,
        onEnd: (job) => this.#noteEnd(job),
      });
      if (this.#isClosed) void jobs.close();
      return jobs;
    });
    return this.#running;
  }

  #noteEnd(job: EndedJob): void {
    if (this.#isClosed) return;
    const session = this.#options.session();
    const { record, status, exitCode, endedAt, tail } = job;
    const { jobId, command, startedAt, promptId, notify } = record;
    const durationMs = endedAt - startedAt;
    session.report(
      { type: "job_end", jobId, command, status, exitCode, durationMs, tail },
      promptId,
    );
    // A job of a previous session does not concern the current one.
    const owner = this.#owners.get(jobId) ?? session.id;
    if (notify === true && owner === session.id) session.notify(noticeOf(job));
  }
}

/** A folder name for a session id, which may be any text in a store. */
async function folderName(id: string): Promise<string> {
  if (/^[\w-]{1,100}$/.test(id)) return id;
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(id).digest("hex");
}

function noticeOf({ record, status, exitCode, tail }: EndedJob): CustomMessage {
  const { jobId, command } = record;
  const how = exitCode === null ? status : `${status} with code ${exitCode}`;
  const shown = tail === "" ? "It had no output." : `The end of its output:\n${tail}`;
  return {
    role: "custom",
    customType: JOB_NOTICE_TYPE,
    content: `Background job ${jobId} has ended (${how}): ${command}\n\n${shown}`,
    display: true,
    details: { jobId, status, exitCode },
    timestamp: Date.now(),
  };
}
