import type { Redis } from "ioredis";
import type { CheckedOut, Checkout } from "./checkout.ts";
import { ControlStream } from "./control-stream.ts";
import { type Frame, FrameStream } from "./frame-stream.ts";
import type { PromptJob } from "./prompt-job.ts";
import { type Life, PromptRun } from "./run-prompt.ts";
import { takeFolder } from "./take-folder.ts";
import type { WorkerOptions } from "./worker-options.ts";

export interface JobLife {
  readonly job: PromptJob;
  readonly promptId: string;
  readonly options: WorkerOptions;
  readonly checkout: Checkout;
  readonly redis: Redis;
  /** Aborts, with the reason, when the job must be given up. */
  readonly signal: AbortSignal;
  /** The answer that refuses a command of the control stream; undefined for a command that is accepted. */
  readonly refusal: (command: Frame) => Frame | undefined;
  readonly onEntry: () => void;
  readonly report: (line: string) => void;
}

/** Runs a host for a job until the prompt has its result, the host has ended, or the job is given up. */
export async function liveOnce(life: JobLife): Promise<Life> {
  const { checkout, signal, report } = life;
  const { sessionId, project } = life.job;
  const leave = (folder: CheckedOut) => release(folder, report);
  const job = { sessionId, project };
  const folder = await takeFolder({ checkout, job, signal, report, release: leave });
  try {
    return await liveIn(folder, life);
  } finally {
    await leave(folder);
  }
}

/** A failed release does not change the outcome of the prompt. */
async function release(folder: CheckedOut, report: JobLife["report"]): Promise<void> {
  try {
    await folder.release?.();
  } catch (error) {
    report(`the release of ${folder.cwd} failed: ${String(error)}`);
  }
}

async function liveIn({ cwd }: CheckedOut, life: JobLife): Promise<Life> {
  const { job, promptId, options, redis, signal } = life;
  const { store, variables } = options;
  const events = new FrameStream(redis, job.sessionId);
  let control: ControlStream | undefined;
  // Only now: a host without the session would take commands from the host that has it.
  const onOpen = (): void => {
    control ??= new ControlStream(redis.duplicate(), job.sessionId, (command) => {
      const refusal = life.refusal(command);
      if (refusal === undefined) run.send(command);
      else events.add(refusal);
    });
  };
  const run = new PromptRun(
    { job, promptId },
    {
      cwd,
      words: wordsOf(job, options),
      // The host inherits the variables of this process as well.
      variables: { ...variables, TAU_REDIS: undefined, TAU_STORE: store },
      silenceMs: options.leaseMs,
    },
    { events, onEntry: life.onEntry, onOpen, report: life.report },
  );
  try {
    return await Promise.race([run.life, leftBy(signal)]);
  } finally {
    await control?.stop();
    await run.end();
    await events.flushed().catch(() => undefined);
  }
}

function leftBy(signal: AbortSignal): Promise<Life> {
  return new Promise((resolve) => {
    const leave = (): void => resolve({ kind: "ended", reason: String(signal.reason) });
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
  });
}

function wordsOf(
  { sessionId, projectKey, provider, modelId, thinkingLevel }: PromptJob,
  { host, leaseMs }: WorkerOptions,
): string[] {
  const given = Object.entries({
    "--project-key": projectKey,
    "--provider": provider,
    "--model": modelId,
    "--thinking": thinkingLevel,
  });
  const named = given.flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
  // With durability `effects`, the next worker does not run tool calls again.
  const own = ["--lease-ms", String(leaseMs), "--durability", "effects"];
  return [...own, ...host, ...named, "--session-id", sessionId];
}
