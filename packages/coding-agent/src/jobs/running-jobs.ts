import type { JobInfo, JobOutput as OutputOfJob } from "@tau-agent/rpc-protocol";
import { errorMessage, SessionError } from "@tau-agent/rpc-protocol/plain";
import { isWorkspaceError, type WorkspaceSpawnOptions } from "@tau-agent/rpc-protocol/workspace";
import {
  commandVariables,
  ProcessError,
  runShellCommand,
  type ToolEnvironment,
  within,
} from "@tau-agent/system";
import { JobFolders, type JobPlace, ownerOf } from "./job-folders.ts";
import { JobOutput, tailBytes } from "./job-output.ts";
import { describeJob, endOf, type JobEnd, type JobRecord, lostNow } from "./job-record.ts";
import { readOutput } from "./read-output.ts";

export interface JobRequest {
  readonly command: string;
  /** Whether to tell the model when it ends. */
  readonly notify?: boolean | undefined;
  readonly detached?: boolean | undefined;
  /** No limit by default. */
  readonly timeoutMs?: number | undefined;
  readonly traceparent?: string | undefined;
  /** Keeps the job's command under this id. */
  readonly commandId?: string | undefined;
}

/** A job that has ended, with the last part of its output. */
export interface EndedJob extends JobEnd {
  readonly record: JobRecord;
  readonly tail: string;
}

export interface RunningJobsOptions {
  readonly environment: ToolEnvironment;
  readonly place: JobPlace;
  readonly onEnd: (job: EndedJob) => void;
}

/** A job that a call recorded. */
export interface StartedJob {
  readonly jobId: string;
  readonly hasEnd: boolean;
}

/** A job known to this host. */
interface Job {
  readonly record: JobRecord;
  readonly folder: string;
  end: JobEnd | undefined;
  /** The job's command while this host follows it; after its end, the processes that it left behind. */
  live?: LiveJob | undefined;
}

interface LiveJob {
  runs: boolean;
  /** Resolves once its end is recorded. */
  readonly ended: Promise<void>;
  /** Kills all its processes, including those that outlived the command. */
  readonly kill: () => void;
}

interface JobStart extends Pick<JobRequest, "timeoutMs" | "traceparent"> {
  /** Takes the command over instead of starting it. */
  readonly adopt?: ((options: WorkspaceSpawnOptions) => ReturnType<NonNullable<Spawn>>) | undefined;
}

type Spawn = Parameters<typeof runShellCommand>[1]["start"];

/** How many ended jobs of a session keep their records and output. */
const maxEnded = 100;
/** Output is collected for longer if every write is a round trip. */
const farPauseMs = 1_000;
/** How long the host waits at its end for the end of its jobs. */
const closeMs = 2_000;
/** A detached command does not depend on being taken over. */
const forever = Number.MAX_SAFE_INTEGER;

/** The jobs of a session, running for this process or found in its folder. */
export class RunningJobs {
  readonly #options: RunningJobsOptions;
  readonly #folders: JobFolders;
  /** By session folder. */
  readonly #known = new Map<string, Promise<Map<string, Job>>>();
  /** Whether it is settled which jobs of earlier hosts' calls continue. */
  #hasAdopted = false;
  #isClosed = false;

  constructor(options: RunningJobsOptions) {
    this.#options = options;
    this.#folders = new JobFolders(options.place);
  }

  /**
   * Starts a job whose files are in a subfolder of `directory`.
   *
   * @throws {ProcessError} if the shell or the directory does not exist
   */
  async start(directory: string, request: JobRequest, promptId?: string): Promise<string> {
    const { environment } = this.#options;
    const { command, notify, detached, commandId } = request;
    if (detached && environment.sandbox !== undefined) {
      const text = "A detached job would outlive the sandbox. Start it without detached.";
      throw new ProcessError("sandbox_unavailable", text);
    }
    const jobs = await this.#jobsIn(directory);
    const { folder, record } = await this.#folders.create(directory, (jobId) => ({
      jobId,
      command,
      startedAt: Date.now(),
      ...(detached ? { detached } : {}),
      ...(detached || this.#keepsAlways ? { isKept: true } : {}),
      ...(notify ? { notify } : {}),
      ...(commandId === undefined || detached ? {} : { commandId }),
      ...(promptId === undefined ? {} : { promptId }),
    }));
    const { jobId } = record;
    const job: Job = { record, folder, end: undefined };
    try {
      await this.#run(job, request);
    } catch (error) {
      job.end = { status: "exited", exitCode: 127, endedAt: Date.now() };
      jobs.set(jobId, job);
      await this.#folders.writeEnd(folder, job.end).catch(() => {});
      throw error;
    }
    jobs.set(jobId, job);
    void this.#forgetOld(jobs);
    return jobId;
  }

  /** The jobs of this process and those recorded in a session's folder, oldest first. */
  async list(directory: string): Promise<JobInfo[]> {
    const all = new Set((await this.#jobsIn(directory)).values());
    for (const other of await Promise.all(this.#known.values())) {
      for (const job of other.values()) if (job.live !== undefined) all.add(job);
    }
    return [...all]
      .sort((left, right) => left.record.startedAt - right.record.startedAt)
      .map((job) => this.#describe(job));
  }

  /**
   * The output from an offset on; if there are more than 50 KB, only the end.
   *
   * @throws {SessionError} `job_not_found`
   */
  async output(directory: string, jobId: string, offset?: number): Promise<OutputOfJob> {
    const job = await this.#find(directory, jobId);
    // The status must be read first: a job that has ended by then has written all of its output.
    const { status } = this.#describe(job);
    const mask = this.#options.environment.createOutputMask?.();
    const isGrowing = status === "running";
    const wish = { offset, isGrowing, mask };
    return { jobId, status, ...(await readOutput(this.#options.place, job.folder, wish)) };
  }

  /**
   * Kills a job with all its processes, and resolves once it has ended. For a job that has already
   * ended, kills the background processes that it left.
   *
   * @throws {SessionError} `job_not_found`
   */
  async kill(directory: string, jobId: string): Promise<JobInfo> {
    const job = await this.#find(directory, jobId);
    job.live?.kill();
    await job.live?.ended;
    return this.#describe(job);
  }

  /** The job of a kept command, and whether its end is known: otherwise the command may never have begun. */
  async startedAs(directory: string, commandId: string): Promise<StartedJob | undefined> {
    const jobs = [...(await this.#jobsIn(directory)).values()];
    const job = jobs.find(({ record }) => record.commandId === commandId);
    if (job === undefined) return undefined;
    return { jobId: job.record.jobId, hasEnd: job.end !== undefined && job.end.status !== "lost" };
  }

  /** The commands of earlier hosts' calls that may continue. */
  async keptCommands(directory: string): Promise<readonly string[]> {
    const jobs = [...(await this.#jobsIn(directory)).values()];
    return jobs.flatMap(({ record, end }) => (end === undefined ? (record.commandId ?? []) : []));
  }

  /** Takes over the jobs of an earlier host; those whose commands are gone are lost. */
  async adoptAll(directory: string): Promise<void> {
    const { kept } = this.#options.environment;
    for (const job of (await this.#jobsIn(directory)).values()) {
      const { commandId } = job.record;
      if (kept === undefined || commandId === undefined) continue;
      if (job.end !== undefined || job.live !== undefined) continue;
      await kept
        .resume(commandId, () => this.#run(job, {}))
        .catch((error: unknown) => {
          if (!isWorkspaceError(error, "lost")) return this.#note(job, lostNow());
        });
    }
    this.#hasAdopted = true;
  }

  /** Marks the end of the host: jobs that it kills now will count as lost. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const { durable } = this.#options.place.workspace;
    const known = await within(closeMs, Promise.all(this.#known.values()));
    const ours = (known ?? [])
      .flatMap((jobs) => [...jobs.values()])
      .filter(({ live, record }) => {
        return live?.runs === true && record.isKept === true && record.detached !== true;
      });
    const ending = ours.map(({ folder }) => durable?.endCommands(afterOf(folder)));
    await within(closeMs, Promise.allSettled(ending));
  }

  #describe({ record, end, live }: Job): JobInfo {
    const { kept } = this.#options.environment;
    const mayGoOn = kept !== undefined && record.commandId !== undefined && !this.#hasAdopted;
    return describeJob(record, end, live?.runs ?? mayGoOn);
  }

  /**
   * Whether all commands are kept because the connection to the workspace may be lost. Durable calls keep their own.
   */
  get #keepsAlways(): boolean {
    const { environment, place } = this.#options;
    const { id, durable } = place.workspace;
    return id !== "local" && durable !== undefined && environment.kept === undefined;
  }

  #jobsIn(directory: string): Promise<Map<string, Job>> {
    const known = this.#known.get(directory);
    if (known !== undefined) return known;
    const loading = this.#load(directory);
    this.#known.set(directory, loading);
    loading.catch(() => this.#known.delete(directory));
    return loading;
  }

  /** Reads the jobs that earlier hosts started, and takes over detached ones. */
  async #load(directory: string): Promise<Map<string, Job>> {
    const jobs = (await this.#folders.read(directory)).map((found): Job => ({ ...found }));
    await Promise.all(jobs.map((job) => this.#adopt(job)));
    return new Map(jobs.map((job) => [job.record.jobId, job]));
  }

  async #adopt(job: Job): Promise<void> {
    const { record, folder, end } = job;
    const { durable } = this.#options.place.workspace;
    if (end !== undefined || record.isKept !== true || durable === undefined) return;
    if (this.#isClosed) return;
    const adopt = ({ onOutput, signal }: WorkspaceSpawnOptions) => {
      const keepMs = record.detached ? forever : undefined;
      return durable.adopt({ ...ownerOf(folder), keepMs, fromOffset: 0, onOutput, signal });
    };
    try {
      await this.#run(job, { adopt });
    } catch (error) {
      if (!isWorkspaceError(error, "not_found")) throw error;
      await this.#note(job, lostNow());
    }
  }

  async #find(directory: string, jobId: string): Promise<Job> {
    for (const jobs of await Promise.all(this.#known.values())) {
      const live = jobs.get(jobId);
      if (live?.live !== undefined) return live;
    }
    const found = (await this.#jobsIn(directory)).get(jobId);
    if (found === undefined) throw new SessionError("job_not_found", { jobId });
    return found;
  }

  async #run(job: Job, { timeoutMs, traceparent, adopt }: JobStart): Promise<void> {
    const { environment, place } = this.#options;
    const { record, folder } = job;
    const output = new JobOutput(place, folder, {
      mask: environment.createOutputMask?.(),
      pauseMs: place.workspace.id === "local" ? undefined : farPauseMs,
    });
    const started = Promise.withResolvers<() => void>();
    const controller = new AbortController();
    const running = runShellCommand(environment, {
      ...{ command: record.command, timeoutMs, signal: controller.signal },
      sessionVariables: commandVariables(environment, traceparent),
      start: adopt ?? this.#startOf(job),
      onOutput: (chunk, stream) => output.add(chunk, stream),
      onStarted: started.resolve,
    });
    const killRest = await Promise.race([started.promise, running.then(() => () => {})]);
    const live: LiveJob = {
      runs: true,
      kill: () => {
        if (live.runs) controller.abort();
        killRest();
      },
      ended: running.then(
        (outcome) => this.#end(job, output, { ...endOf(outcome), endedAt: Date.now() }),
        (error: unknown) => this.#fail(job, output, error),
      ),
    };
    job.live = live;
  }

  /** Starts the command, kept in its workspace if necessary. */
  #startOf({ folder, record }: Job): Spawn {
    const { environment, place } = this.#options;
    const { kept } = environment;
    if (record.isKept !== true) {
      const more = kept === undefined ? {} : { outputFolder: folder };
      return (options) => environment.workspace.spawn({ ...options, ...more });
    }
    // A client's overlay cannot keep commands.
    const workspace = record.detached ? place.workspace : environment.workspace;
    const keepMs = record.detached ? forever : undefined;
    const keep = { ...ownerOf(folder), keepMs, outputFolder: folder };
    return (options) => workspace.spawn({ ...options, ...keep });
  }

  async #end(job: Job, output: JobOutput, end: JobEnd): Promise<void> {
    const { record, folder, live } = job;
    await output.end();
    if (live !== undefined) live.runs = false;
    if (this.#isClosed) return;
    await this.#note(job, end);
    if (record.isKept) await this.#forget(folder);
    if (record.commandId !== undefined) {
      await this.#options.environment.kept?.forget(record.commandId).catch(() => undefined);
    }
    const tail = output.isUsed ? output.tail : await this.#tailOf(folder);
    if (!this.#isClosed) this.#options.onEnd({ ...end, record, tail });
  }

  /** The start failed because the sandbox could not be set up, or the connection is lost. */
  async #fail(job: Job, output: JobOutput, error: unknown): Promise<void> {
    const { record, live } = job;
    if (!isWorkspaceError(error, "lost")) {
      output.add(Buffer.from(errorMessage(error)), "stderr");
      return this.#end(job, output, { status: "exited", exitCode: 1, endedAt: Date.now() });
    }
    if (live !== undefined) live.runs = false;
    job.live = undefined;
    if (this.#isClosed) return;
    if (record.detached) {
      // The job continues in the workspace; the next query finds it again.
      this.#known.clear();
      return;
    }
    const end = lostNow();
    job.end = end;
    // Nothing can be written until the workspace is reachable again.
    void output.end().then(() => this.#note(job, end));
    this.#options.onEnd({ ...end, record, tail: output.tail });
  }

  /** Records how a job ended. If the disk is full, the job counts as lost once this host is gone. */
  async #note(job: Job, end: JobEnd): Promise<void> {
    job.end = end;
    await this.#folders.writeEnd(job.folder, end).catch(() => {});
  }

  async #forget(folder: string): Promise<void> {
    const { durable } = this.#options.place.workspace;
    await durable?.endCommands(afterOf(folder)).catch(() => {});
  }

  async #tailOf(folder: string): Promise<string> {
    const mask = this.#options.environment.createOutputMask?.();
    const wish = { maxBytes: tailBytes, mask };
    const piece = await readOutput(this.#options.place, folder, wish).catch(() => undefined);
    return piece?.output ?? "";
  }

  /** Removes the oldest ended jobs once there are too many. */
  async #forgetOld(jobs: Map<string, Job>): Promise<void> {
    const ended = [...jobs.values()].filter(({ live }) => live?.runs !== true);
    for (const { folder, record } of ended.slice(0, Math.max(0, ended.length - maxEnded))) {
      jobs.delete(record.jobId);
      await this.#folders.remove(folder).catch(() => {});
    }
  }
}

/** An owner with a later epoch, which ends and removes a job's kept command. */
function afterOf(folder: string) {
  const { session, epoch } = ownerOf(folder);
  return { session, beforeEpoch: epoch + 1 };
}
