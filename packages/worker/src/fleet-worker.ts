import { DelayedError, type Job, UnrecoverableError, WaitingError, Worker } from "bullmq";
import { Redis } from "ioredis";
import { type Checkout, loadCheckout } from "./checkout.ts";
import { refusalOf } from "./control-refusals.ts";
import { liveOnce } from "./job-life.ts";
import { type JobResult, type PromptJob, readJob } from "./prompt-job.ts";
import type { Life } from "./run-prompt.ts";
import { SessionTurns } from "./session-turns.ts";
import { nextLookMs, WaitingJobs } from "./waiting-jobs.ts";
import type { WorkerOptions } from "./worker-options.ts";

/** The hash with each session's project. */
const PROJECTS = "tau:projects";
/** How long a job is delayed before it checks again whether it is next. */
const TURN_MS = 300;
/** How long a job may exceed its delay before it is promoted. */
const PROMOTE_MS = 1_000;
/** How long a job is delayed after its host has ended. */
const AGAIN_MS = 100;

/** What a job keeps from one host to the next. */
interface Progress {
  /** How many hosts in a row have ended without a new entry. */
  readonly lives: number;
  /** Why the last one ended. */
  readonly reason?: string;
}

/** Takes prompts from a queue and runs each in its own host. */
export class FleetWorker {
  readonly #options: WorkerOptions;
  readonly #redis: Redis;
  readonly #worker: Worker<PromptJob, JobResult>;
  readonly #checkout: Checkout;
  readonly #turns: SessionTurns;
  readonly #report: (line: string) => void;
  readonly #waiting: WaitingJobs;
  /** The controllers that end the hosts of running jobs, by job id. */
  readonly #running = new Map<string, AbortController>();
  /** Whether unfinished prompts go back to the queue. */
  #isLeaving = false;
  #isDraining = false;

  private constructor(
    options: WorkerOptions,
    parts: {
      readonly checkout: Checkout;
      readonly redis: Redis;
      readonly report: (line: string) => void;
    },
  ) {
    this.#options = options;
    this.#checkout = parts.checkout;
    this.#redis = parts.redis;
    this.#report = parts.report;
    this.#waiting = new WaitingJobs(parts.report);
    this.#turns = new SessionTurns(parts.redis);
    const { queue, concurrency, leaseMs } = options;
    this.#worker = new Worker<PromptJob, JobResult>(queue, (job, token) => this.#run(job, token), {
      connection: parts.redis,
      concurrency,
      lockDuration: leaseMs,
      // Checked often, so that another worker takes a job over soon after its lease has expired.
      stalledInterval: Math.max(100, leaseMs / 10),
      // This class counts the hosts itself: a killed worker is not the fault of the job.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
    });
    // The client reconnects automatically.
    this.#worker.on("error", () => undefined);
    this.#worker.on("stalled", (id) => {
      parts.report(
        `job ${id}: its worker has not renewed its lease; another worker goes on with it`,
      );
    });
    // This worker did not respond for a while; its host would keep the session from the next one.
    this.#worker.on("lockRenewalFailed", (ids) => {
      for (const id of ids) this.#running.get(id)?.abort("another worker has the job");
    });
  }

  /**
   * Connects and takes the first job.
   *
   * @param report - receives a line when a host ends before its prompt
   * @throws if the checkout module cannot be loaded, or Redis cannot be reached
   */
  static async start(
    options: WorkerOptions,
    report: (line: string) => void = () => undefined,
  ): Promise<FleetWorker> {
    const checkout = await loadCheckout(options.checkout, options.cwd);
    const redis = await connect(options.redis);
    const worker = new FleetWorker(options, { checkout, redis, report });
    await worker.#worker.waitUntilReady();
    return worker;
  }

  /**
   * Takes no more jobs, gives running prompts some time to end, and returns unfinished ones to the queue for other
   * workers.
   */
  async drain(): Promise<void> {
    this.#isDraining = true;
    const timer = setTimeout(() => {
      this.#isLeaving = true;
      for (const running of this.#running.values()) running.abort("the worker ends");
    }, this.#options.drainTimeoutMs);
    await this.#worker.close();
    clearTimeout(timer);
    this.#redis.disconnect();
  }

  async #run(job: Job<PromptJob, JobResult>, token: string | undefined): Promise<JobResult> {
    const data = checked(job);
    const { sessionId } = data;
    await this.#bindProject(data);
    if (!(await this.#turns.isNext(job, sessionId))) {
      this.#waiting.note(`${job.id}`, `an earlier job of session ${sessionId}`);
      return later(job, { token, ms: TURN_MS });
    }
    const { lives, reason: before } = progressOf(job);
    if (lives >= this.#options.maxLives) {
      await this.#turns.leave(job, sessionId);
      const last = before ? `; the last one: ${before}` : "";
      throw new UnrecoverableError(`${lives} hosts in a row ended without a new entry${last}`);
    }
    await job.updateProgress({ lives: lives + 1, reason: "its worker was killed" });
    const life = await this.#live(job, data);
    if (life.kind !== "locked") this.#waiting.forget(`${job.id}`);
    switch (life.kind) {
      case "result":
        await this.#turns.leave(job, sessionId);
        return life.result;
      case "refused":
        await this.#turns.leave(job, sessionId);
        throw new UnrecoverableError(life.reason);
      case "locked":
        await job.updateProgress({ lives });
        return this.#locked(job, { sessionId, token, holder: life.reason });
      default:
        return this.#again(job, { token, lives, reason: life.reason });
    }
  }

  async #live(job: Job<PromptJob, JobResult>, data: PromptJob): Promise<Life> {
    const id = job.id ?? "";
    const leaving = new AbortController();
    if (this.#isLeaving) leaving.abort("the worker ends");
    this.#running.set(id, leaving);
    let hasEntry = false;
    const onEntry = (): void => {
      if (hasEntry) return;
      hasEntry = true;
      void job.updateProgress({ lives: 0 }).catch(() => undefined);
    };
    const { control } = this.#options;
    try {
      return await liveOnce({
        job: data,
        promptId: promptIdOf(job),
        options: this.#options,
        checkout: this.#checkout,
        redis: this.#redis,
        signal: leaving.signal,
        refusal: (command) => refusalOf(command, { control, isDraining: this.#isDraining }),
        onEntry,
        report: (line) => this.#report(`job ${id}: ${line}`),
      });
    } catch (error) {
      return { kind: "ended", reason: error instanceof Error ? error.message : String(error) };
    } finally {
      this.#running.delete(id);
    }
  }

  /** Delays the job, but not forever: a host outside of the fleet may keep the session. */
  async #locked(
    job: Job<PromptJob, JobResult>,
    {
      sessionId,
      token,
      holder,
    }: {
      readonly sessionId: string;
      readonly token: string | undefined;
      readonly holder: string;
    },
  ): Promise<never> {
    const what = `session ${sessionId}, which another host holds`;
    const waitedMs = this.#waiting.note(`${job.id}`, what);
    if (waitedMs < this.#options.lockTimeoutMs) {
      return later(job, { token, ms: nextLookMs(waitedMs) });
    }
    this.#waiting.forget(`${job.id}`);
    await this.#turns.leave(job, sessionId);
    const seconds = Math.round(waitedMs / 1_000);
    throw new UnrecoverableError(`waited ${seconds} s for ${what}: ${holder}`);
  }

  /** Passes a job to its next host. */
  async #again(
    job: Job<PromptJob, JobResult>,
    { token, lives, reason }: Progress & { readonly token: string | undefined },
  ): Promise<never> {
    this.#report(`job ${job.id}: its host ended: ${reason}`);
    if (!this.#isLeaving) {
      const { lives: now } = progressOf(job);
      await job.updateProgress({ lives: now, reason });
      return later(job, { token, ms: AGAIN_MS });
    }
    // The worker is leaving, so this end does not count against the job.
    await job.updateProgress({ lives });
    await job.moveToWait(token);
    throw new WaitingError();
  }

  /** With two projects, one id would mean two sessions that share one stream. */
  async #bindProject({ sessionId, projectKey = "" }: PromptJob): Promise<void> {
    await this.#redis.hsetnx(PROJECTS, sessionId, projectKey);
    const bound = await this.#redis.hget(PROJECTS, sessionId);
    if (bound === projectKey) return;
    const shown = bound ? `project ${bound}` : "the default project";
    throw new UnrecoverableError(`session ${sessionId} belongs to ${shown}`);
  }
}

/** Connects, and throws if the first attempt fails; a lost connection is restored automatically. */
async function connect(url: string): Promise<Redis> {
  const redis = new Redis(url, { maxRetriesPerRequest: null, lazyConnect: true });
  let reason = "";
  redis.on("error", (error) => {
    reason = error.message;
  });
  try {
    await redis.connect();
    return redis;
  } catch (error) {
    redis.disconnect();
    const why = reason || (error instanceof Error ? error.message : String(error));
    throw new Error(`--redis: cannot connect: ${why}`);
  }
}

async function later(
  job: Job,
  { token, ms }: { readonly token: string | undefined; readonly ms: number },
): Promise<never> {
  await job.moveToDelayed(Date.now() + ms, token);
  // The queue waits for a wall-clock time, which is far away if the clock is set back.
  setTimeout(() => void job.promote().catch(() => undefined), ms + PROMOTE_MS).unref();
  throw new DelayedError();
}

function progressOf(job: Job): Progress {
  const { lives = 0, reason } = (job.progress ?? {}) as Partial<Progress>;
  return { lives, ...(reason === undefined ? {} : { reason }) };
}

function promptIdOf(job: Job<PromptJob, JobResult>): string {
  return job.data.promptId ?? job.id ?? "";
}

function checked(job: Job<PromptJob, JobResult>): PromptJob {
  try {
    const data = readJob(job.data);
    if (!/^[A-Za-z0-9_-]{1,128}$/.test(promptIdOf(job))) {
      throw new TypeError("the job's id must be a promptId: letters, digits, _ and -");
    }
    return data;
  } catch (error) {
    throw new UnrecoverableError(error instanceof Error ? error.message : String(error));
  }
}
