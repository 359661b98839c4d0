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
  /** The mechanism to disable. */
  readonly mutant?: string | undefined;
  /** By default, the seed chooses it. */
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

/** Only a hanging host takes longer, even on a busy machine. */
const limitMs = 300_000;
const maxLives = 30;
/** How long rounds that have reached their step wait for the others. */
const patienceMs = 2_000;
/** How long the store ignores a paused host that continues too late. */
const blindMs = 500;
/** How long a host may take to notice that it has lost its sessions. */
const lateMs = 10_000;

/** Plays one round with hosts of its own. */
export async function playRound(
  seed: number,
  server: CampaignServer,
  options: RoundOptions = {},
): Promise<RoundResult> {
  const [result] = await playRounds([seed], server, options);
  if (result === undefined) throw new Error("A round has a result");
  return result;
}

/** Plays rounds of one group: several share their hosts, so all of them crash when a host dies. */
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

/** Rounds that share their hosts. */
class Crew {
  readonly #parts: CrewParts;
  readonly #random: Random;
  /** The round whose plan decides what happens to the hosts. */
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

  /** Plays all rounds to the end. */
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

  /** Kills all hosts; a host that was paused twice would never end otherwise. */
  close(): void {
    for (const host of this.#all) host.signal("SIGKILL");
  }

  get #open(): readonly Round[] {
    return this.#parts.rounds.filter(({ status }) => status === undefined);
  }

  /** Lets a host that was paused past its lease end its runs; it must not change anything. */
  async #endPaused(): Promise<void> {
    const paused = this.#paused;
    if (paused === undefined) return;
    // While the store is cut off, the host cannot notice that it has lost the sessions, and gets as far as it can.
    for (const { model } of this.#parts.rounds) this.#parts.store?.cutOff(model, blindMs);
    for (const host of paused.hosts) host.signal("SIGCONT");
    await Promise.race([paused.over, pause(lateMs, undefined, { ref: false })]);
    await Promise.all(paused.hosts.map((host) => host.end()));
  }

  /** Resumes the paused hosts while the next host, which now owns the sessions, works. */
  #wakePaused(): void {
    const asleep = this.#leader.plan.isLate ? [] : (this.#paused?.hosts ?? []);
    void pause(this.#random.below(600)).then(() => {
      for (const host of asleep) host.signal("SIGCONT");
    });
  }

  /** Applies the fault to the hosts; returns whether new hosts have to continue. */
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
          // The next host needs disk space to start.
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

  /** Resolves when it is time to apply the fault. */
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

  /** Cuts each round off from its store for a while when it reaches its step; its host continues. */
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

  /** The fault of the newest host. */
  get #fault(): Fault {
    const { fault, next } = this.#leader.plan;
    return this.#harms > 0 && next !== undefined ? "pause" : fault;
  }

  /** The step at which the newest host stops itself. */
  get #stopAt(): string | undefined {
    const { step, next } = this.#leader.plan;
    const own = this.#harms === 0 ? step : this.#harms === 1 ? next : undefined;
    return own !== undefined && stopSteps.test(own) ? own : undefined;
  }

  /** Starts hosts that own the sessions; earlier hosts may keep them for a while. */
  async #openLife(rounds: readonly Round[]): Promise<ReadonlyMap<Round, HostedSession>> {
    const { store } = this.#parts;
    const count = this.#leader.plan.fault === "rivals" && this.#harms > 0 ? 2 : 1;
    const sessions = new Map<Round, HostedSession>();
    const deadline = performance.now() + limitMs;
    // Some hosts start before the lease has expired and are refused.
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

  /** Tries once to open a session, in all hosts at once; undefined if none of them gets it. */
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
      // A host that stalled for longer than its lease may have lost the session to the other, but hardly twice.
      if (!round.plan.isStored || this.#stalled.has(round))
        throw new Error("G3 two hosts have the session");
      this.#stalled.add(round);
    }
    // An empty session belongs to the host that writes first.
    await Promise.all(others.map((other) => other.close()));
    return session;
  }

  /** Starts a host; returns when it is ready, or has ended because it did not get its session. */
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

/** Kills the host's exec servers; the host continues. */
function killCarriers(host: Host): void {
  const { stdout } = spawnSync("pgrep", ["-P", String(host.child.pid), "-f", "exec-server"]);
  for (const pid of String(stdout).trim().split("\n").filter(Boolean)) {
    spawnSync("kill", ["-KILL", pid]);
  }
}
