import { DelayedError, type Job, UnrecoverableError, WaitingError, Worker } from "bullmq";
import { Redis } from "ioredis";
import { type Checkout, loadCheckout } from "./checkout.ts";
import { ControlStream } from "./control-stream.ts";
import { type Frame, FrameStream } from "./frame-stream.ts";
import { type JobResult, type PromptJob, readJob } from "./prompt-job.ts";
import { type Life, PromptRun } from "./run-prompt.ts";
import type { WorkerOptions } from "./worker-options.ts";

/** The hash that says which project a session belongs to. */
const PROJECTS = "tau:projects";
/** How long a job waits for another host to leave its session. */
const LOCKED_MS = 300;
/** How long a job waits after its host ended. */
const AGAIN_MS = 100;
/** Commands that begin work, and are refused once the worker is to end. */
const beginning = /^(prompt|steer|follow_up|queue_message|abort_and_prompt|bash|compact)$/;

/** Takes prompts from a queue and runs each in a host of its own. */
export class FleetWorker {
  readonly #options: WorkerOptions;
  readonly #redis: Redis;
  readonly #worker: Worker<PromptJob, JobResult>;
  readonly #checkout: Checkout;
  /** Aborted when unfinished prompts have to go back. */
  readonly #leaving = new AbortController();
  #isDraining = false;

  private constructor(options: WorkerOptions, checkout: Checkout, redis: Redis) {
    this.#options = options;
    this.#checkout = checkout;
    this.#redis = redis;
    const { queue, concurrency, leaseMs } = options;
    this.#worker = new Worker<PromptJob, JobResult>(queue, (job, token) => this.#run(job, token), {
      connection: redis,
      concurrency,
      lockDuration: leaseMs,
      stalledInterval: leaseMs,
      // Lives are counted here: a worker that is killed is not the fault of the job.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
    });
    // A lost connection is made again.
    this.#worker.on("error", () => undefined);
  }

  /**
   * Connects and takes the first job.
   *
   * @throws if the checkout module cannot be loaded, or Redis not be reached
   */
  static async start(options: WorkerOptions): Promise<FleetWorker> {
    const checkout = await loadCheckout(options.checkout, options.cwd);
    const redis = new Redis(options.redis, { maxRetriesPerRequest: null });
    redis.on("error", () => undefined);
    const worker = new FleetWorker(options, checkout, redis);
    await worker.#worker.waitUntilReady();
    return worker;
  }

  /**
   * Takes no more jobs, lets running prompts end for a while, and gives back those that did not: another
   * worker goes on with them.
   */
  async drain(): Promise<void> {
    this.#isDraining = true;
    const timer = setTimeout(() => this.#leaving.abort(), this.#options.drainTimeoutMs);
    await this.#worker.close();
    clearTimeout(timer);
    this.#redis.disconnect();
  }

  async #run(job: Job<PromptJob, JobResult>, token: string | undefined): Promise<JobResult> {
    const data = checked(job);
    await this.#bindProject(data);
    const { lives = 0 } = (job.progress ?? {}) as { readonly lives?: number };
    const { maxLives } = this.#options;
    if (lives >= maxLives) {
      throw new UnrecoverableError(`${maxLives} hosts in a row ended without a new entry`);
    }
    await job.updateProgress({ lives: lives + 1 });
    const life = await this.#live(job, data).catch((error: unknown): Life => {
      return { kind: "ended", reason: error instanceof Error ? error.message : String(error) };
    });
    switch (life.kind) {
      case "result":
        return life.result;
      case "refused":
        throw new UnrecoverableError(life.reason);
      case "locked":
        await job.updateProgress({ lives });
        await job.moveToDelayed(Date.now() + LOCKED_MS, token);
        throw new DelayedError();
      default:
        if (!this.#leaving.signal.aborted) {
          await job.moveToDelayed(Date.now() + AGAIN_MS, token);
          throw new DelayedError();
        }
        // Not its own fault.
        await job.updateProgress({ lives });
        await job.moveToWait(token);
        throw new WaitingError();
    }
  }

  /** One session of two projects would be two sessions with one stream. */
  async #bindProject({ sessionId, projectKey = "" }: PromptJob): Promise<void> {
    await this.#redis.hsetnx(PROJECTS, sessionId, projectKey);
    const bound = await this.#redis.hget(PROJECTS, sessionId);
    if (bound === projectKey) return;
    const shown = bound ? `project ${bound}` : "the default project";
    throw new UnrecoverableError(`session ${sessionId} belongs to ${shown}`);
  }

  async #live(job: Job<PromptJob, JobResult>, data: PromptJob): Promise<Life> {
    const { signal } = this.#leaving;
    const { sessionId, project } = data;
    const folder = await this.#checkout({ sessionId, project, signal });
    try {
      const events = await FrameStream.open(this.#redis, sessionId);
      const run = this.#start(job, data, { events, cwd: folder.cwd });
      const control = new ControlStream(this.#redis.duplicate(), sessionId, (command) => {
        const refusal = this.#refusal(command);
        if (refusal === undefined) run.send(command);
        else events.add(refusal);
      });
      try {
        const left = new Promise<Life>((resolve) => {
          const leave = (): void => resolve({ kind: "ended", reason: "the worker ends" });
          if (signal.aborted) leave();
          signal.addEventListener("abort", leave, { once: true });
        });
        return await Promise.race([run.life, left]);
      } finally {
        await control.stop();
        await run.end();
        await events.flushed();
      }
    } finally {
      await folder.release?.();
    }
  }

  #start(
    job: Job<PromptJob, JobResult>,
    data: PromptJob,
    { events, cwd }: { readonly events: FrameStream; readonly cwd: string },
  ): PromptRun {
    const { store, variables } = this.#options;
    let hasEntry = false;
    const onEntry = (): void => {
      if (hasEntry) return;
      hasEntry = true;
      void job.updateProgress({ lives: 0 }).catch(() => undefined);
    };
    return new PromptRun(
      { job: data, promptId: promptIdOf(job) },
      { cwd, words: this.#words(data), variables: { ...variables, TAU_STORE: store } },
      { events, onEntry },
    );
  }

  #words({ sessionId, projectKey, provider, modelId, thinkingLevel }: PromptJob): string[] {
    const { host, leaseMs } = this.#options;
    const given = Object.entries({
      "--project-key": projectKey,
      "--provider": provider,
      "--model": modelId,
      "--thinking": thinkingLevel,
    });
    const named = given.flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
    return ["--lease-ms", String(leaseMs), ...host, ...named, "--session-id", sessionId];
  }

  #refusal({ type, id }: Frame): Frame | undefined {
    const { control } = this.#options;
    const command = String(type);
    const refuse = (code: string, error: string): Frame => ({
      type: "response",
      ...(id === undefined ? {} : { id }),
      command,
      success: false,
      error,
      code,
    });
    if (command === "parse") return refuse("parse", "Failed to parse command");
    if (control !== undefined && !control.has(command)) {
      return refuse("unknown_command", `This worker does not take ${command}; see --control`);
    }
    if (!this.#isDraining || !beginning.test(command)) return undefined;
    return refuse("draining", "The worker is about to end");
  }
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
