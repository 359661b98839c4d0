import { Random } from "../../../../packages/ai/test/chaos/random.ts";
import { type Kind, planEach, planWork, type Work } from "./work.ts";

/**
 * What happens to a host: it is killed; paused past its lease; killed while cut off from its store; loses its exec
 * server; loses its store for a while; finds its disk full for a while; or is replaced by two hosts at once.
 */
export type Fault = "kill" | "pause" | "store" | "carrier" | "outage" | "disk" | "rivals";

/** A round as derived from its seed. */
export interface RoundPlan {
  readonly work: Work;
  readonly fault: Fault;
  /**
   * When the fault is applied: after a time, at an event, before or after the store keeps a certain entry, or
   * before the change with a certain number (of any file, or of one in the project).
   */
  readonly step: string;
  /** The step at which the following host is paused past its lease. */
  readonly next?: string;
  /** How many occurrences of the step to skip; random by default. */
  readonly passed?: number;
  /** The maximum number of hosts that the fault hits. */
  readonly lives: number;
  /** Whether the session is in a store instead of a file. */
  readonly isStored: boolean;
  /** Whether the workspace is behind an exec server, where changes by a bash command are not restored. */
  readonly isFar: boolean;
  readonly durabilityAdoptMs: number;
  /** Whether a paused host is resumed only after the next one has finished. */
  readonly isLate?: boolean;
  /** Whether commands that were running when their host died end as if nothing had happened. */
  readonly isAdopted?: boolean;
  /** How long the sessions stay without a host after one ends. */
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

/** What rounds that share hosts have in common. */
interface Group {
  readonly fault: Fault;
  readonly isStored: boolean;
}

/** A kind of round, and the groups that it fits. */
interface Scenario {
  readonly faults: readonly [Fault, ...Fault[]];
  /** Undefined means that both are possible. */
  readonly isStored?: boolean;
  readonly plan: (random: Random, group: Group) => RoundPlan;
}

/** Rounds with random steps and faults. */
function anyOf(options: PlanOptions = {}, only = faults): Scenario {
  const words = options.steps === undefined ? steps : ([...options.steps, ...steps] as const);
  const plan: Scenario["plan"] = (random, { fault, isStored }) => {
    const work = planWork(random, options.kinds ?? common);
    const change = random.pick([`change ${2 + random.below(11)}`, `file ${1 + random.below(3)}`]);
    const isAtChange = fault === "pause" && random.below(3) === 0;
    const step = isAtChange ? change : random.pick(words);
    return {
      ...{ work, fault, step, lives: 1 + random.below(2) },
      // In some rounds, the next host does not wait for running commands, which then end as interrupted.
      durabilityAdoptMs: random.below(3) === 0 ? 1 : 20_000,
      isStored,
      isFar: fault === "carrier" || (fault !== "disk" && random.below(5) === 0),
      // A host stopped before a change would otherwise make it after the next host has rolled the call back.
      isLate: isAtChange || (fault === "pause" && random.below(2) === 0),
      restMs: 0,
      settings: options.settings ?? {},
    };
  };
  return { faults: only, plan };
}

/** One call of these kinds, with one fault at one step. */
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

/** The name selects a scenario; the seed decides the rest. */
const scenarios: Readonly<Record<string, Scenario>> = {
  any: anyOf(),
  /** A call took effect, but its result is not stored. */
  "lost-result": oneCall(["append"], "kill", "before toolResult", { isAdopted: true }),
  /** The host dies while it writes a file; the file is restored. */
  "written-file": oneCall(["write", "replace", "edit"], "kill", "before toolResult"),
  /** The host dies while a command runs, and no host adopts the command. */
  "unclaimed-command": oneCall(["slow"], "kill", "tool_execution_update", {
    ...{ durabilityAdoptMs: 1, restMs: 600 },
  }),
  /** The host dies while a command runs, and the next host adopts the command. */
  "running-command": oneCall(["slow"], "kill", "tool_execution_update", { isAdopted: true }),
  /** A host loses its session right before it changes a file, and continues after the next host has worked. */
  "late-writer": oneCall(["replace", "edit"], "pause", "change 5", { isLate: true }),
  /**
   * A host loses its session halfway through restoring the changes of a command, and continues after the next
   * host has worked.
   */
  "late-restore": oneCall(["slow"], "kill", "tool_execution_update", {
    ...{ work: planEach(["slow", "append"]), durabilityAdoptMs: 1, restMs: 600 },
    ...{ next: "restore 1", lives: 2, isLate: true },
  }),
  /**
   * A host loses its session right before it merges a subagent's work, and continues after the next host has worked.
   */
  "late-merge": oneCall(["isolated"], "pause", "merge 1", {
    isLate: true,
    settings: { "task.verification.enabled": true },
  }),
  /** A job writes files while the changes of a command are rolled back. */
  "job-beside-call": oneCall(["job"], "kill", "stored tool_started", {
    ...{ work: planEach(["job", "append"]), passed: 1 },
  }),
  "open-approval": oneCall(["append"], "kill", "host_request", {
    settings: { "permissions.mode": "ask" },
  }),
  "open-question": oneCall(["question"], "kill", "host_request"),
  /** A subagent's work is merged, but the result of the call is not stored. */
  "merged-work": oneCall(["isolated"], "kill", 'before toolResult","toolCallId":"call-', {
    isAdopted: true,
    settings: { "task.verification.enabled": true },
  }),
  /** A command ends while the disk has no space for its output and its end. */
  "full-disk": oneCall(["slow"], "disk", "tool_execution_update", { isStored: false }),
  /** The host dies while a subagent works. */
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
  /** Isolated subagents whose work is verified and merged. */
  isolated: anyOf(
    {
      kinds: ["isolated", "isolated", "append"],
      steps: ["subagent_verification_start", "subagent_verification_end", "subagent_end"],
      settings: { "task.verification.enabled": true },
    },
    ["kill", "pause", "store", "outage", "disk", "rivals"],
  ),
};

/** This many rounds with consecutive seeds have the same fault and may share hosts. */
export const groupSize = 16;

export const groupOf = (seed: number): number => Math.floor(seed / groupSize);

/** Steps at which a host stops itself. */
export const stopSteps = /^(change|file|restore|merge) \d+$/;

/** Whether a round needs its own host, because the host stops itself in one session only. */
export const isLonely = ({ step, next = "" }: Pick<RoundPlan, "step" | "next">): boolean =>
  stopSteps.test(step) || stopSteps.test(next);

/** Half of the rounds use the scenario `any`; the others pick a scenario that fits their group. */
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
