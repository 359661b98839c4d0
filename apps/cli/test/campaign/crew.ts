import { spawnSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { Random } from "../../../../packages/ai/test/chaos/random.ts";
import { answerOf } from "./answers.ts";
import type { CampaignServer } from "./campaign-server.ts";
import { Host, HostedSession } from "./host.ts";
import { leaseMs, Place } from "./place.ts";
import { type Fault, stopSteps } from "./plans.ts";
import { Round } from "./round.ts";
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

/** Only what hangs takes longer: the machine may be busy. */
const limitMs = 300_000;
const maxLives = 30;
/** How long those that are at their steps wait for the others. */
const patienceMs = 2_000;
/** How long the store says nothing to a host that goes on too late. */
const blindMs = 500;
/** How long a host that lost its sessions may take to notice. */
const lateMs = 10_000;

/** One prompt, with hosts of its own. */
export async function playRound(
  seed: number,
  server: CampaignServer,
  options: RoundOptions = {},
): Promise<RoundResult> {
  const [result] = await playRounds([seed], server, options);
  if (result === undefined) throw new Error("A round has a result");
  return result;
}

/** Prompts of one group: several share their hosts, and all have crashed when one dies. */
export async function playRounds(
  seeds: readonly number[],
  server: CampaignServer,
  { mutant, scenario }: RoundOptions = {},
): Promise<RoundResult[]> {
  const rounds = seeds.map((seed) => new Round(seed, server, scenario));
  const store = rounds.some(({ plan }) => plan.isStored) ? await StoreServer.start() : undefined;
  const place = new Place({ rounds, url: server.url, store, isShared: rounds.length > 1 });
  const crew = new Crew({ rounds, place, store, mutant });
  try {
    await place.make();
    await crew.play();
    return await Promise.all(
      rounds.map(async (round) => {
        const { seed, plan, crashes, model } = round;
        const { fault, step } = plan;
        const entries = await place.entriesOf(model);
        const broken = round.brokenPromises(place.folderOf(model), entries);
        return { seed, scenario: plan.scenario, fault, step, crashes, broken };
      }),
    );
  } finally {
    crew.close();
    store?.close();
    if (!process.env.KEEP) place.remove();
    else console.log(place.path);
  }
}

interface CrewParts {
  readonly rounds: readonly Round[];
  readonly place: Place;
  readonly store: StoreServer | undefined;
  readonly mutant: string | undefined;
}

/** Rounds with the same hosts. */
class Crew {
  readonly #parts: CrewParts;
  readonly #random: Random;
  /** Its plan says what happens to the hosts. */
  readonly #leader: Round;
  readonly #isPatient: boolean;
  readonly #all = new Set<Host>();
  readonly #stalled = new Set<Round>();
  #hosts: readonly Host[] = [];
  #harms = 0;
  #paused: { readonly hosts: readonly Host[]; readonly over: Promise<unknown> } | undefined;

  constructor(parts: CrewParts) {
    this.#parts = parts;
    this.#random = new Random(-firstOf(parts.rounds)[0].seed);
    this.#leader = this.#random.pick(firstOf(parts.rounds));
    this.#isPatient = this.#random.below(2) === 0;
  }

  /** Plays all rounds to their ends. */
  async play(): Promise<void> {
    const { plan } = this.#leader;
    const isOver = () => this.#open.length === 0;
    for (let life = 0; life < maxLives && !isOver(); life += 1) {
      const rounds = this.#open;
      for (const [round, session] of await this.#openLife(rounds)) round.playIn(session);
      this.#wakePaused();
      const ended = Promise.all(rounds.map(({ playing }) => playing)).then(() => "over");
      const isLast = this.#harms >= plan.lives;
      const fault = this.#fault;
      const first = isLast ? await ended : await Promise.race([ended, this.#moment(rounds)]);
      const goesOn = first === "step" && (await this.#harm());
      for (const round of rounds) round.release();
      if (goesOn) {
        if (fault !== "pause") await Promise.all(this.#hosts.map((host) => host.ended));
        if (!isOver()) await pause(Math.max(...rounds.map((round) => round.plan.restMs)));
        continue;
      }
      await ended;
      await Promise.all(this.#hosts.map((host) => host.end()));
    }
    await this.#endPaused();
  }

  /** A host that was paused twice over has no other end. */
  close(): void {
    for (const host of this.#all) host.signal("SIGKILL");
  }

  get #open(): readonly Round[] {
    return this.#parts.rounds.filter(({ status }) => status === undefined);
  }

  /** A host that was paused past its lease ends its runs, and changes nothing any more. */
  async #endPaused(): Promise<void> {
    const paused = this.#paused;
    if (paused === undefined) return;
    // It does not learn at once that it has lost them, and goes on as far as it may.
    for (const { model } of this.#parts.rounds) this.#parts.store?.cutOff(model, blindMs);
    for (const host of paused.hosts) host.signal("SIGCONT");
    await Promise.race([paused.over, pause(lateMs, undefined, { ref: false })]);
    await Promise.all(paused.hosts.map((host) => host.end()));
  }

  /** It goes on while the next host works, which has the sessions now. */
  #wakePaused(): void {
    const asleep = this.#leader.plan.isLate ? [] : (this.#paused?.hosts ?? []);
    void pause(this.#random.below(600)).then(() => {
      for (const host of asleep) host.signal("SIGCONT");
    });
  }

  /** Does what happens to the hosts; returns whether others have to go on. */
  async #harm(): Promise<boolean> {
    const { place, store } = this.#parts;
    const fault = this.#fault;
    const random = this.#random;
    this.#harms += 1;
    switch (fault) {
      case "carrier":
        for (const host of this.#hosts) killCarriers(host);
        return false;
      case "disk": {
        if (!place.hasDisk) break;
        place.fillDisk();
        await pause(random.below(800));
        if (random.below(2) === 0) {
          // The next host has to start.
          setTimeout(() => place.freeDisk(), random.below(300));
          break;
        }
        place.freeDisk();
        return false;
      }
      case "store":
        for (const { model } of this.#open) store?.cutOff(model, random.below(600));
        await pause(random.below(100));
    }
    const rounds = this.#open;
    for (const round of rounds) round.crashes += 1;
    for (const host of this.#hosts) host.harm(fault === "pause" ? "SIGSTOP" : "SIGKILL");
    if (fault !== "pause") return true;
    const over = Promise.all(rounds.map(({ playing }) => playing));
    this.#paused = { hosts: this.#hosts, over };
    return true;
  }

  /** Fulfilled when it is time to harm the hosts. */
  async #moment(rounds: readonly Round[]): Promise<string> {
    const { store } = this.#parts;
    const leader =
      rounds.find((round) => round === this.#leader) ?? this.#random.pick(firstOf(rounds));
    if (this.#stopAt !== undefined) {
      const isStopped = () => this.#hosts.some((host) => host.isStopped || host.hasEnded);
      while (!isStopped()) await pause(5);
      return "step";
    }
    const reached = new Map(
      rounds.map((round) => [round, Promise.race([round.reach(store), round.playing])]),
    );
    if (leader.plan.fault === "outage") return this.#cutOffEach(reached);
    await reached.get(leader);
    const waiting = rounds.filter(({ canWait }) => canWait).map((round) => reached.get(round));
    const enough = pause(patienceMs, undefined, { ref: false });
    if (this.#isPatient) await Promise.race([enough, Promise.all(waiting)]);
    return "step";
  }

  /** Each loses its store for a time when it is at its step, and its host goes on. */
  async #cutOffEach(reached: ReadonlyMap<Round, Promise<void>>): Promise<string> {
    this.#harms += 1;
    const each = [...reached].map(async ([round, step]) => {
      await step;
      this.#parts.store?.cutOff(round.model, round.random.below(2 * leaseMs));
      round.release();
    });
    await Promise.all(each);
    return "cut off";
  }

  /** What happens to the newest host. */
  get #fault(): Fault {
    const { fault, next } = this.#leader.plan;
    return this.#harms > 0 && next !== undefined ? "pause" : fault;
  }

  /** Where the newest host stops itself. */
  get #stopAt(): string | undefined {
    const { step, next } = this.#leader.plan;
    const own = this.#harms === 0 ? step : this.#harms === 1 ? next : undefined;
    return own !== undefined && stopSteps.test(own) ? own : undefined;
  }

  /** Hosts that have the sessions, which earlier ones may keep for a while. */
  async #openLife(rounds: readonly Round[]): Promise<ReadonlyMap<Round, HostedSession>> {
    const { store } = this.#parts;
    const count = this.#leader.plan.fault === "rivals" && this.#harms > 0 ? 2 : 1;
    const sessions = new Map<Round, HostedSession>();
    const deadline = performance.now() + limitMs;
    // Some come too early, and are refused.
    let isEarly = this.#random.below(3) === 0;
    this.#hosts = [];
    for (;;) {
      if (!isEarly) await Promise.all(rounds.map(({ model }) => store?.isFree(model)));
      isEarly = false;
      if (this.#hosts.every(({ hasEnded }) => hasEnded)) {
        this.#hosts = await Promise.all(Array.from({ length: count }, () => this.#start()));
        sessions.clear();
      }
      const missing = rounds.filter((round) => !sessions.has(round));
      const opened = await Promise.all(missing.map((round) => this.#openRound(round)));
      for (const [at, round] of missing.entries()) {
        const session = opened[at];
        if (session !== undefined) sessions.set(round, session);
      }
      if (sessions.size === rounds.length) return sessions;
      if (performance.now() > deadline) {
        throw new Error(`No host starts: ${this.#hosts[0]?.stderr.slice(-1000)}`);
      }
      await pause(50);
    }
  }

  /** Tries once to open a session, in all hosts at once; undefined if none has it. */
  async #openRound(round: Round): Promise<HostedSession | undefined> {
    const { place, rounds } = this.#parts;
    const { model } = round;
    const hosts = this.#hosts.filter(({ hasEnded }) => !hasEnded);
    const isBegun = hosts.length > 1 && (await place.entriesOf(model)).length > 0;
    const tried = await Promise.all(
      hosts.map((host) =>
        rounds.length === 1 ? new HostedSession(host) : host.open(place.opening(round)),
      ),
    );
    const [session, ...others] = tried.filter((one) => one !== undefined);
    if (others.length > 0 && isBegun) {
      // One that stood still for longer than its lease may have lost it to the other, but hardly twice.
      if (!round.plan.isStored || this.#stalled.has(round))
        throw new Error("G3 two hosts have the session");
      this.#stalled.add(round);
    }
    // A session that has nothing yet is the one's that writes first.
    await Promise.all(others.map((other) => other.close()));
    return session;
  }

  /** A host that is ready, or has ended because it did not get its session. */
  async #start(): Promise<Host> {
    const { place, mutant } = this.#parts;
    const { words, cwd, variables, prefix } = place;
    const host = new Host({ words, cwd, variables, prefix, mutant, stopAt: this.#stopAt });
    this.#all.add(host);
    host.answer((frame) => answerOf(frame, this.#random));
    const hostRequests = ["tool_approval", "budget", "question"];
    await host.request({ type: "initialize", stream: "delta", capabilities: { hostRequests } });
    return host;
  }
}

function firstOf<Item>([first, ...others]: readonly Item[]): [Item, ...Item[]] {
  if (first === undefined) throw new Error("There are no rounds");
  return [first, ...others];
}

/** Its exec servers die; the host goes on. */
function killCarriers(host: Host): void {
  const { stdout } = spawnSync("pgrep", ["-P", String(host.child.pid), "-f", "exec-server"]);
  for (const pid of String(stdout).trim().split("\n").filter(Boolean)) {
    spawnSync("kill", ["-KILL", pid]);
  }
}
