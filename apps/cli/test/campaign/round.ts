import { spawnSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { Random } from "../../../../packages/ai/test/chaos/random.ts";
import { answerOf } from "./answers.ts";
import type { CampaignServer } from "./campaign-server.ts";
import { Host } from "./host.ts";
import { brokenPromises } from "./oracle.ts";
import { leaseMs, Place } from "./place.ts";
import { planRound, type RoundPlan } from "./plans.ts";
import { StoreServer } from "./store-server.ts";

export interface RoundOptions {
  /** A mechanism to take out. */
  readonly mutant?: string | undefined;
  /** Default as the seed chooses. */
  readonly scenario?: string | undefined;
}

export interface RoundResult {
  readonly seed: number;
  readonly scenario: string;
  readonly fault: string;
  readonly step: string;
  readonly crashes: number;
  readonly broken: readonly string[];
}

type Frame = Readonly<Record<string, unknown>>;

const limitMs = 60_000;
const maxLives = 8;
const isResult = ({ type, promptId }: Frame) => type === "prompt_result" && promptId === "p1";

/** One prompt whose hosts die, and which is resumed until it is over. */
export async function playRound(
  seed: number,
  server: CampaignServer,
  { mutant, scenario }: RoundOptions = {},
): Promise<RoundResult> {
  const random = new Random(seed);
  const plan = planRound(random, scenario);
  const model = server.modelFor(plan.work);
  const store = plan.isStored ? await StoreServer.start() : undefined;
  const place = new Place({ plan, model, url: server.url, store });
  const round = new Round({ plan, place, store, random, mutant });
  try {
    await place.make();
    const status = await round.play();
    const outcome = {
      ...{ plan, folder: place.folder, entries: await place.entries(), status },
      ...{ requests: server.requestsOf(model), crashes: round.crashes },
    };
    const { fault, step } = plan;
    const broken = brokenPromises(outcome);
    return { seed, scenario: plan.scenario, fault, step, crashes: round.crashes, broken };
  } finally {
    round.close();
    store?.close();
    if (!process.env.KEEP) place.remove();
    else console.log(place.path);
  }
}

interface RoundParts {
  readonly plan: RoundPlan;
  readonly place: Place;
  readonly store: StoreServer | undefined;
  readonly random: Random;
  readonly mutant: string | undefined;
}

class Round {
  crashes = 0;
  readonly #parts: RoundParts;
  readonly #hosts = new Set<Host>();
  #paused: Host | undefined;

  constructor(parts: RoundParts) {
    this.#parts = parts;
  }

  /** Returns how the prompt ended. */
  async play(): Promise<string> {
    const { plan } = this.#parts;
    for (let life = 0; life < maxLives; life += 1) {
      const host = await this.#openHost();
      this.#wakePaused();
      const over = host.until(isResult, limitMs);
      host.send({ type: "prompt", id: "p", promptId: "p1", message: "go", resume: true });
      const ended = over.then(() => "over");
      const isLast = life >= plan.lives;
      const first = isLast ? await ended : await Promise.race([ended, this.#reach(host)]);
      const goesOn = first === "step" && (await this.#harm(host));
      if (goesOn) {
        if (plan.fault !== "pause") await host.ended;
        await pause(plan.restMs);
        continue;
      }
      const result = await over;
      if (isCutShort(host, result)) {
        this.crashes += 1;
        await end(host);
        continue;
      }
      const status = String(
        result?.status === "error"
          ? JSON.stringify(result)
          : (result?.status ?? `nothing: ${host.stderr.slice(-500)}`),
      );
      await this.#finish(host);
      return status;
    }
    return "nothing: too many hosts lost the session";
  }

  /** A host that was paused twice over has no other end. */
  close(): void {
    for (const host of this.#hosts) host.signal("SIGKILL");
  }

  async #finish(host: Host): Promise<void> {
    await endJobs(host);
    await end(host);
    if (this.#paused === undefined) return;
    // A host that was paused past its lease ends its run, and changes nothing any more.
    this.#paused.signal("SIGCONT");
    await pause(300);
    await end(this.#paused);
  }

  /** It goes on while the next host works, which has the session now. */
  #wakePaused(): void {
    const asleep = this.#parts.plan.isLate ? undefined : this.#paused;
    void pause(this.#parts.random.below(600)).then(() => asleep?.signal("SIGCONT"));
  }

  /** Does what happens to a host; returns whether another one has to go on. */
  async #harm(host: Host): Promise<boolean> {
    const { plan, place, store, random } = this.#parts;
    switch (plan.fault) {
      case "carrier":
        killCarrier(host);
        return false;
      case "outage":
        store?.cutOff(random.below(2 * leaseMs));
        return false;
      case "disk": {
        if (!place.hasDisk) break;
        place.fillDisk();
        await pause(random.below(800));
        if (random.below(2) === 0) {
          // Its next host has to start.
          setTimeout(() => place.freeDisk(), random.below(300));
          break;
        }
        place.freeDisk();
        return false;
      }
      case "pause":
        this.crashes += 1;
        host.signal("SIGSTOP");
        this.#paused = host;
        return true;
      case "store":
        store?.cutOff(random.below(600));
        await pause(random.below(100));
    }
    this.crashes += 1;
    host.signal("SIGKILL");
    return true;
  }

  /** A host that has the session, which an earlier one may keep for a while. */
  async #openHost(): Promise<Host> {
    const { place, plan, mutant, store } = this.#parts;
    const { words, cwd, variables, prefix } = place;
    let mayStall = store !== undefined;
    const stopAt = this.crashes === 0 ? changeOf(plan.step) : undefined;
    const options = { words, cwd, variables, prefix, mutant, stopAt };
    const count = plan.fault === "rivals" && this.crashes > 0 ? 2 : 1;
    const deadline = performance.now() + limitMs;
    for (;;) {
      const hosts = Array.from({ length: count }, () => this.#start(options));
      const ready = await Promise.all(hosts.map(({ opened }) => opened));
      const [host, ...others] = hosts.filter((_, at) => ready[at] !== undefined);
      if (others.length > 0) {
        // One that stood still for longer than its lease may have lost it to the other, but hardly twice.
        if (!mayStall) throw new Error("G3 two hosts have the session");
        mayStall = false;
        for (const rival of hosts) rival.host.signal("SIGKILL");
        this.crashes += hosts.length;
        continue;
      }
      if (host !== undefined) return host.host;
      if (performance.now() > deadline)
        throw new Error(`No host starts: ${hosts[0]?.host.stderr.slice(-1000)}`);
      await pause(100);
    }
  }

  #start(options: ConstructorParameters<typeof Host>[0]) {
    const host = new Host(options);
    this.#hosts.add(host);
    const opened = host.until(
      ({ command, success }) => command === "initialize" && success === true,
      limitMs,
    );
    host.answer((frame) => answerOf(frame, this.#parts.random));
    const hostRequests = ["tool_approval", "budget", "question"];
    host.send({ type: "initialize", id: "i", stream: "delta", capabilities: { hostRequests } });
    return { host, opened };
  }

  /** Fulfilled at the step of the plan. */
  async #reach(host: Host): Promise<string> {
    const { plan, store, random } = this.#parts;
    const { step } = plan;
    const [, when, word] = /^(stored|before) (.*)$/.exec(step) ?? [];
    if (word !== undefined && store !== undefined) {
      for (let count = plan.passed ?? random.below(3); count >= 0; count -= 1) {
        const isLast = count === 0;
        await (when === "before" && isLast ? store.refused(word) : store.stored(word));
      }
      return "step";
    }
    if (changeOf(step) !== undefined) {
      while (!host.isStopped && !host.hasEnded) await pause(5);
      return "step";
    }
    if (step === "time" || word !== undefined) await pause(random.below(1_200));
    else {
      for (let count = plan.passed ?? random.below(5); count >= 0; count -= 1) {
        if ((await host.until(({ type }) => type === step, limitMs)) === undefined) break;
      }
      if (random.below(2) === 0) await pause(random.below(60));
    }
    return "step";
  }
}

const changeOf = (step: string): number | undefined => {
  const [, number] = /^change (\d+)$/.exec(step) ?? [];
  return number === undefined ? undefined : Number(number);
};

/** Whether a host lost its session while its store was away, or could not write while its disk was full. */
function isCutShort(host: Host, result: Frame | undefined): boolean {
  if (result === undefined) return host.hasEnded;
  return result.status === "error" && result.code === "session_write_failed";
}

/** The exec server dies; its host goes on. */
function killCarrier(host: Host): void {
  const { stdout } = spawnSync("pgrep", ["-P", String(host.child.pid), "-f", "exec-server"]);
  for (const pid of String(stdout).trim().split("\n").filter(Boolean)) {
    spawnSync("kill", ["-KILL", pid]);
  }
}

/** Jobs end with their host; those of the round come to their own ends. */
async function endJobs(host: Host): Promise<void> {
  for (const deadline = performance.now() + 10_000; performance.now() < deadline; ) {
    const listed = host.until(({ command }) => command === "list_jobs", limitMs);
    host.send({ type: "list_jobs", id: "j" });
    const data = (await listed)?.data as
      | { readonly jobs?: readonly { status: string }[] }
      | undefined;
    if (!data?.jobs?.some(({ status }) => status === "running")) return;
    await pause(50);
  }
}

async function end(host: Host): Promise<void> {
  host.child.stdin?.end();
  const timer = setTimeout(() => host.signal("SIGKILL"), 15_000);
  await host.ended;
  clearTimeout(timer);
}
