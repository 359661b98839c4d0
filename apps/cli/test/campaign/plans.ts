import { Random } from "../../../../packages/ai/test/chaos/random.ts";
import { type Kind, planEach, planWork, type Work } from "./work.ts";

/**
 * What happens to a host: it is killed, paused past its lease, killed behind a store that is cut off, loses its exec
 * server; its store is away for a time, its disk is full for a time, or two hosts come after it at once.
 */
export type Fault = "kill" | "pause" | "store" | "carrier" | "outage" | "disk" | "rivals";

/** A round as its seed decides it. */
export interface RoundPlan {
  readonly work: Work;
  readonly fault: Fault;
  /**
   * Where it happens: at a time, an event, an entry that a store is about to keep or has kept, or before the change
   * of this number, of any file or of one in the project.
   */
  readonly step: string;
  /** Where the host after it is paused past its lease. */
  readonly next?: string;
  /** How many such steps are let pass; chosen at random without it. */
  readonly passed?: number;
  /** How many hosts it happens to, at most. */
  readonly lives: number;
  /** In a store, and not in a file. */
  readonly isStored: boolean;
  /** Behind an exec server, where what a line of bash changed is not taken back. */
  readonly isFar: boolean;
  readonly durabilityAdoptMs: number;
  /** A host that was paused goes on only when the next one is over. */
  readonly isLate?: boolean;
  /** Commands that ran when their host died end as if nothing had happened. */
  readonly isAdopted?: boolean;
  /** How long nobody comes after a host. */
  readonly restMs: number;
  readonly settings: Readonly<Record<string, unknown>>;
}

const steps: readonly [string, ...string[]] = [
  ...(["time", "time", "message_start", "message_end"] as const),
  ...(["tool_execution_start", "tool_execution_update", "tool_execution_end"] as const),
  ...(["stored tool_started", "stored toolResult", "stored tool_started"] as const),
  ...(["before tool_started", "before toolResult", "before toolResult"] as const),
];
const faults: readonly [Fault, ...Fault[]] = [
  ...(["kill", "kill", "pause", "store", "carrier", "outage", "disk", "rivals"] as const),
];
const common: readonly [Kind, ...Kind[]] = [
  ...(["append", "slow", "write", "replace"] as const),
  ...(["edit", "look", "append", "task"] as const),
];
const storedFaults: ReadonlySet<Fault> = new Set(["pause", "store", "outage"]);

interface PlanOptions {
  readonly kinds?: readonly [Kind, ...Kind[]];
  readonly steps?: readonly [string, ...string[]];
  readonly settings?: RoundPlan["settings"];
}

/** What rounds have in common that share their hosts. */
interface Group {
  readonly fault: Fault;
  readonly isStored: boolean;
}

/** Prompts that belong together, and the groups that they fit into. */
interface Scenario {
  readonly faults: readonly [Fault, ...Fault[]];
  /** Undefined: either. */
  readonly isStored?: boolean;
  readonly plan: (random: Random, group: Group) => RoundPlan;
}

/** Rounds in which anything may happen. */
function anyOf(options: PlanOptions = {}, only = faults): Scenario {
  const words = options.steps === undefined ? steps : ([...options.steps, ...steps] as const);
  const plan: Scenario["plan"] = (random, { fault, isStored }) => {
    const work = planWork(random, options.kinds ?? common);
    const change = random.pick([`change ${2 + random.below(11)}`, `file ${1 + random.below(3)}`]);
    const isAtChange = fault === "pause" && random.below(3) === 0;
    const step = isAtChange ? change : random.pick(words);
    return {
      ...{ work, fault, step, lives: 1 + random.below(2) },
      // Some commands wait for no other host, and end as interrupted.
      durabilityAdoptMs: random.below(3) === 0 ? 1 : 20_000,
      isStored,
      isFar: fault === "carrier" || (fault !== "disk" && random.below(5) === 0),
      // One that stopped before a change would make it when the next one has taken the call back.
      isLate: isAtChange || (fault === "pause" && random.below(2) === 0),
      restMs: 0,
      settings: options.settings ?? {},
    };
  };
  return { faults: only, plan };
}

/** One call of these kinds, and one fault at one step. */
function oneCall(
  kinds: readonly [Kind, ...Kind[]],
  fault: Fault,
  step: string,
  more: Partial<RoundPlan> = {},
): Scenario {
  const { isStored = true } = more;
  const plan: Scenario["plan"] = (random) => ({
    ...{ work: planEach([random.pick(kinds)]), fault, step, passed: 0, lives: 1 },
    ...{ isStored, isFar: false, durabilityAdoptMs: 20_000, restMs: 0, settings: {} },
    ...more,
  });
  return { faults: [fault], isStored, plan };
}

/** A name chooses one of them, and a seed the rest. */
const scenarios: Readonly<Record<string, Scenario>> = {
  any: anyOf(),
  /** A call took effect, and its result is not stored. */
  "lost-result": oneCall(["append"], "kill", "before toolResult", { isAdopted: true }),
  /** A file is written when the host dies: it is given back. */
  "written-file": oneCall(["write", "replace", "edit"], "kill", "before toolResult"),
  /** A command is half done, and nobody goes on with it. */
  "unclaimed-command": oneCall(["slow"], "kill", "tool_execution_update", {
    ...{ durabilityAdoptMs: 1, restMs: 600 },
  }),
  /** A command is half done, and the next host goes on with it. */
  "running-command": oneCall(["slow"], "kill", "tool_execution_update", { isAdopted: true }),
  /** A host that is about to change a file loses its session, and goes on when the next one has worked. */
  "late-writer": oneCall(["replace", "edit"], "pause", "change 5", { isLate: true }),
  /** A host that takes back what a command did loses its session half-way, and goes on when the next one has worked. */
  "late-restore": oneCall(["slow"], "kill", "tool_execution_update", {
    ...{ work: planEach(["slow", "append"]), durabilityAdoptMs: 1, restMs: 600 },
    ...{ next: "restore 1", lives: 2, isLate: true },
  }),
  /** A host that is about to merge the work of a subagent loses its session, and goes on when the next one has worked. */
  "late-merge": oneCall(["isolated"], "pause", "merge 1", {
    isLate: true,
    settings: { "task.verification.enabled": true },
  }),
  /** A job writes beside a command that is taken back. */
  "job-beside-call": oneCall(["job"], "kill", "stored tool_started", {
    ...{ work: planEach(["job", "append"]), passed: 1 },
  }),
  "open-approval": oneCall(["append"], "kill", "host_request", {
    settings: { "permissions.mode": "ask" },
  }),
  "open-question": oneCall(["question"], "kill", "host_request"),
  /** The work of a subagent is merged, and the result of the call is not stored. */
  "merged-work": oneCall(["isolated"], "kill", 'before toolResult","toolCallId":"call-', {
    isAdopted: true,
    settings: { "task.verification.enabled": true },
  }),
  /** A command ends while there is no space for its output and its end. */
  "full-disk": oneCall(["slow"], "disk", "tool_execution_update", { isStored: false }),
  /** A subagent is at work. */
  "subagent-at-work": oneCall(["task"], "kill", "stored tool_started", { passed: 1 }),
  jobs: anyOf({ kinds: ["job", "job", "append", "slow", "edit"] }),
  approvals: anyOf({ steps: ["host_request"], settings: { "permissions.mode": "ask" } }),
  questions: anyOf({ kinds: ["question", "append", "edit"], steps: ["host_request"] }),
  budgets: anyOf({
    steps: ["host_request"],
    settings: { "task.budget.maxToolCalls": 1, "task.budget.onExceeded": "ask" },
  }),
  compaction: anyOf({
    kinds: ["append", "slow", "write", "replace"],
    steps: ["compaction_start", "compaction_end"],
    settings: { "compaction.thresholdTokens": 1, "compaction.keepRecentTokens": 1 },
  }),
  /** Subagents in trees of their own, whose work is verified and merged. */
  isolated: anyOf(
    {
      kinds: ["isolated", "isolated", "append"],
      steps: ["subagent_verification_start", "subagent_verification_end", "subagent_end"],
      settings: { "task.verification.enabled": true },
    },
    ["kill", "pause", "store", "outage", "disk", "rivals"],
  ),
};

/** So many rounds with consecutive seeds meet the same fault, and may share their hosts. */
export const groupSize = 16;

export const groupOf = (seed: number): number => Math.floor(seed / groupSize);

/** Steps at which a host stops itself. */
export const stopSteps = /^(change|file|restore|merge) \d+$/;

/** Whether a round needs a host of its own: one that stops itself does so in one session. */
export const isLonely = ({ step, next = "" }: Pick<RoundPlan, "step" | "next">): boolean =>
  stopSteps.test(step) || stopSteps.test(next);

/** Half of the rounds are any, the other half one of the others that fit their group. */
export function planRound(
  seed: number,
  random: Random,
  name?: string,
): RoundPlan & { readonly scenario: string } {
  const only = name === undefined ? undefined : scenarios[name];
  const names = Object.keys(scenarios) as [string, ...string[]];
  if (name !== undefined && only === undefined)
    throw new Error(`There is no scenario ${name}: ${names.join(", ")}`);
  const group = planGroup(groupOf(seed), only);
  const fitting = names.filter((of) => fits(scenarios[of], group));
  const scenario = name ?? (random.below(2) === 0 ? "any" : random.pick(["any", ...fitting]));
  const { plan } = scenarios[scenario] ?? anyOf();
  return { scenario, ...plan(random, group) };
}

function planGroup(group: number, only: Scenario | undefined): Group {
  const random = new Random(group);
  const fault = random.pick(only?.faults ?? faults);
  const isOften = storedFaults.has(fault) || random.below(2) === 0;
  return { fault, isStored: only?.isStored ?? (fault !== "disk" && isOften) };
}

const fits = (scenario: Scenario | undefined, { fault, isStored }: Group): boolean =>
  scenario?.faults.includes(fault) === true && (scenario.isStored ?? isStored) === isStored;
