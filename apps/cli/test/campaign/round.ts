import { setTimeout as pause } from "node:timers/promises";
import { Random } from "../../../../packages/ai/test/chaos/random.ts";
import type { CampaignServer } from "./campaign-server.ts";
import type { HostedSession } from "./host.ts";
import { brokenPromises, type Entry } from "./oracle.ts";
import { planRound, type RoundPlan } from "./plans.ts";
import type { HeldAppend, StoreServer } from "./store-server.ts";

type Frame = Readonly<Record<string, unknown>>;

const isResult = ({ type, promptId }: Frame) => type === "prompt_result" && promptId === "p1";

/** One prompt whose hosts die, resumed until it has ended. */
export class Round {
  readonly seed: number;
  readonly plan: RoundPlan & { readonly scenario: string };
  readonly model: string;
  readonly random: Random;
  crashes = 0;
  /** How the prompt ended, set once its jobs have ended too. */
  status: string | undefined;
  /** Settles when the newest host stops playing the round. */
  playing: Promise<void> = Promise.resolve();
  readonly #server: CampaignServer;
  #session: HostedSession | undefined;
  #append: HeldAppend | undefined;
  #hasReached = false;

  constructor(seed: number, server: CampaignServer, scenario: string | undefined) {
    this.seed = seed;
    this.random = new Random(seed);
    this.plan = planRound(seed, this.random, scenario);
    this.#server = server;
    this.model = server.modelFor(this.plan.work);
  }

  /**
   * Continues the round in a host that owns the session, until the prompt has ended or the host has lost the session.
   */
  playIn(session: HostedSession): void {
    this.#session = session;
    this.playing = this.#play(session);
  }

  /** Whether the store can hold the host at this step until the fault is applied. */
  get canWait(): boolean {
    return this.plan.isStored && /^(stored|before) /.test(this.plan.step);
  }

  /** Resolves at the step of the plan. */
  async reach(store: StoreServer | undefined): Promise<void> {
    const { step, passed } = this.plan;
    const [, when, word] = /^(stored|before) (.*)$/.exec(step) ?? [];
    if (word !== undefined && store !== undefined) {
      const options = { isBefore: when === "before", passed: passed ?? this.random.below(3) };
      this.#append = store.hold(this.model, word, options);
      await this.#append.held;
    } else if (step === "time" || word !== undefined) await pause(this.random.below(1_200));
    else {
      for (let count = passed ?? this.random.below(5); count >= 0; count -= 1) {
        if ((await this.#session?.until(({ type }) => type === step)) === undefined) return;
      }
      if (this.random.below(2) === 0) await pause(this.random.below(60));
    }
    // After an earlier crash, the step may belong to another call's result.
    this.#hasReached ||= this.crashes === 0;
  }

  /** The fault has been applied, or there will be none. */
  release(): void {
    this.#append?.release();
    this.#append = undefined;
  }

  brokenPromises(folder: string, entries: readonly Entry[]): string[] {
    const { plan, status = "nothing: too many hosts lost the session", crashes } = this;
    // The expected outcome is only known if the step was reached.
    const isAdopted = plan.isAdopted === true && this.#hasReached;
    const requests = this.#server.requestsOf(this.model);
    const known = { plan: { ...plan, isAdopted }, folder, entries, requests, crashes, status };
    return brokenPromises(known);
  }

  async #play(session: HostedSession): Promise<void> {
    const result = await promptIn(session);
    if (this.#session !== session) return;
    if (isCutShort(session, result)) {
      if (session.host.isHarmed) return;
      this.crashes += 1;
      await session.close();
      return;
    }
    if (!(await endJobs(session)) || this.#session !== session) return;
    this.status = String(
      result?.status === "error"
        ? JSON.stringify(result)
        : (result?.status ?? `nothing: ${session.host.stderr.slice(-500)}`),
    );
  }
}

/** How the prompt ends in a host: its result, or the response that refuses it. */
async function promptIn(session: HostedSession): Promise<Frame | undefined> {
  const over = session.until(isResult);
  const prompt = { type: "prompt", promptId: "p1", message: "go", resume: true };
  const refused = session.request(prompt).then((response) => {
    if (response?.success !== false) return over;
    return { ...response, status: "error" };
  });
  return Promise.race([over, refused]);
}

/** Whether a host lost its session, or could not write because of a missing store or a full disk. */
function isCutShort(session: HostedSession, result: Frame | undefined): boolean {
  if (result === undefined) return session.hasEnded;
  const isLost = result.code === "session_lost" || result.code === "session_write_failed";
  return result.status === "error" && isLost;
}

/** A host's jobs end with it, so the round waits for its jobs first. False if the host ends earlier. */
async function endJobs(session: HostedSession): Promise<boolean> {
  for (const deadline = performance.now() + 10_000; performance.now() < deadline; ) {
    const listed = await session.request({ type: "list_jobs" });
    if (listed === undefined) return false;
    const data = listed.data as { readonly jobs?: readonly { status: string }[] } | undefined;
    if (!data?.jobs?.some(({ status }) => status === "running")) return true;
    await pause(50);
  }
  return true;
}
