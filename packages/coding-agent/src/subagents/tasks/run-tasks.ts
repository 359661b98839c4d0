import { join } from "node:path";
import { ToolError } from "@tau-agent/agent";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { type Consumption, nothingUsed } from "@tau-agent/sessions/log";
import { attempt, isTimed, makeFolder, randomHex } from "@tau-agent/system";
import {
  type Change,
  type MergeOutcome,
  openIsolation,
  type TaskIsolation,
  taskFileNames,
} from "@tau-agent/worktrees";
import { resultText } from "./result-text.ts";
import { runSubagent, type TaskOutcome, type TaskRun } from "./run-subagent.ts";
import type { RunningSubagent } from "./session-subagents.ts";
import type { SubagentRecord } from "./subagent-record.ts";
import type { Task, TaskOrder } from "./task-order.ts";
import { type TaskResult, type TaskStatus, unstartedResult } from "./task-result.ts";
import type { TaskServices } from "./task-services.ts";

export interface RunTasksOptions {
  readonly services: TaskServices;
  readonly signal: AbortSignal;
  readonly toolCallId: string;
  readonly onProgress: (task: Task, event: SessionEvent, used: Consumption) => void;
  /** Whether the tasks run in the background. */
  readonly background?: boolean | undefined;
  /** Whether the model gets a message at the end of each task. */
  readonly notifies?: boolean | undefined;
}

/**
 * Executes the tasks of a call, as many at once as the settings allow, then merges isolated work in
 * the order of the tasks. A failed task does not affect the others. `leftOut` lists untracked files
 * too large to copy, `started` counts the subagents taken from the budget.
 *
 * @throws {ToolError} if tasks cannot be isolated here
 */
export async function runTasks(
  order: TaskOrder,
  options: RunTasksOptions,
): Promise<{ results: TaskResult[]; leftOut: readonly string[]; started: number }> {
  try {
    const running = beginAll(order, options);
    return await runBegun(order, { ...options, running });
  } catch (error) {
    // No task has run, but each still gets its one end, even if nothing can be written.
    for (const task of order.tasks) {
      const ending = { status: "failed", error: errorMessage(error) } as const;
      attempt(() => endOne(options, refused(task, order, ending)));
    }
    throw error;
  }
}

type BegunTasks = RunTasksOptions & { readonly running: ReadonlyMap<string, RunningSubagent> };

function beginAll(order: TaskOrder, options: RunTasksOptions): BegunTasks["running"] {
  const { services, toolCallId, background = false, notifies = false } = options;
  const { isolated } = order;
  return new Map(
    order.tasks.map(({ id, agent, description = "", resumes }) => {
      const before = resumes?.record;
      const record: SubagentRecord = {
        ...{ id, agent: agent.name, isolated, background, toolCallId, status: "running" },
        description: description || (before?.description ?? ""),
        startedAt: before?.startedAt ?? Date.now(),
        usage: before?.usage ?? nothingUsed,
        depth: before?.depth ?? services.depth + 1,
        directory: services.session().sessionFile && artifactsFolderOf(services),
        sessionFile: resumes?.sessionFile,
        // Kept until there is new work.
        ...{ keptPatch: before?.keptPatch, treePatch: before?.treePatch },
      };
      return [id, services.subagents.begin(record, { notifies })];
    }),
  );
}

function endOne({ services }: RunTasksOptions, result: TaskResult): void {
  services.subagents.end(result, resultText(result));
}

function refused(
  { id, agent, description }: Task,
  { isolated }: TaskOrder,
  ending: { readonly status: TaskStatus; readonly error: string },
): TaskResult {
  const task = { id, agent: agent.name, description, isolated };
  return unstartedResult(task, { ...ending, used: nothingUsed });
}

async function runBegun(
  order: TaskOrder,
  options: BegunTasks,
): Promise<{ results: TaskResult[]; leftOut: readonly string[]; started: number }> {
  const { services, signal } = options;
  const { environment, agentDirectory, settings } = services;
  const artifactsFolder = artifactsFolderOf(services);
  const { cwd, sandbox } = environment;
  const place =
    services.disk === undefined
      ? {
          environment,
          worktreesRoot: join(agentDirectory, "worktrees"),
          isProjectTrusted: services.session().isProjectTrusted,
          maxCopyBytes: settings.get("isolation.maxCopyBytes"),
        }
      : // Trees are created outside of any sandbox, and used inside one.
        {
          workspace: environment.outside?.() ?? environment.workspace,
          cwd,
          closed: sandbox?.closed,
        };
  const isolation = order.isolated
    ? await openIsolation({ ...place, signal }).catch((error: unknown) => {
        if (!signal.aborted) throw error;
        throw new ToolError("The call was aborted before its tasks started.");
      })
    : undefined;
  try {
    await makeFolder(artifactsFolder, 0o700);
    const outcomes = await runAll(order, options, { artifactsFolder, isolation });
    const results = await bringBack(outcomes, { isolation, signal, services });
    if (isolation !== undefined) for (const result of results) endOne(options, result);
    const started = outcomes.filter(({ wasTaken }) => wasTaken).length;
    return { results, leftOut: isolation?.leftOut ?? [], started };
  } finally {
    await isolation?.dispose();
  }
}

function artifactsFolderOf({ session, environment }: TaskServices): string {
  const { sessionFile } = session();
  if (sessionFile !== undefined) return sessionFile.replace(/\.jsonl$/, "");
  return join(environment.temporaryDirectory, `tau-tasks-${randomHex(6)}`);
}

async function runAll(
  order: TaskOrder,
  options: BegunTasks,
  place: Pick<TaskRun, "artifactsFolder" | "isolation">,
): Promise<TaskOutcome[]> {
  const { settings } = options.services;
  const outcomes: TaskOutcome[] = [];
  const queue = order.tasks.entries();
  // Calls must not overwrite each other's files.
  const prefix = randomHex(4);
  const names = taskFileNames(order.tasks.map(({ id }) => id));
  const workers = Math.max(1, settings.get("task.maxConcurrency"));
  const work = async (): Promise<void> => {
    for (const [index, task] of queue) {
      const fileName = `${prefix}-${names.get(task.id)}`;
      const outcome = await runOne(task, order, { ...options, place: { ...place, fileName } });
      outcomes[index] = outcome;
      // Isolated work has ended only once it is merged back.
      if (place.isolation === undefined) endOne(options, outcome.result);
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, order.tasks.length) }, work));
  return outcomes;
}

async function runOne(
  task: Task,
  order: TaskOrder,
  options: BegunTasks & {
    place: Pick<TaskRun, "artifactsFolder" | "isolation" | "fileName">;
  },
): Promise<TaskOutcome> {
  const { services, signal, toolCallId, place } = options;
  const { budget, settings } = services;
  const refuse = (status: TaskStatus, error: string): TaskOutcome => ({
    wasTaken: false,
    result: refused(task, order, { status, error }),
  });
  const own = options.running.get(task.id)?.signal;
  if (signal.aborted || own?.aborted)
    return refuse("aborted", "The call was aborted before this task started.");
  try {
    // A resumed conversation was counted when it began.
    if (task.resumes === undefined) await budget.takeSubagent({ toolCallId, signal });
    else budget.check();
  } catch (error) {
    return refuse("budget_exceeded", errorMessage(error));
  }
  const maxRuntimeMs = settings.get("task.maxRuntimeMs");
  const timeout = isTimed(maxRuntimeMs) ? AbortSignal.timeout(maxRuntimeMs) : undefined;
  const spent = budget.signal;
  const signals = [signal, own, spent, timeout].filter((source) => source !== undefined);
  return runSubagent(task, {
    services,
    order,
    toolCallId,
    ...place,
    signal: AbortSignal.any(signals),
    abortStatus: () => {
      if (spent.aborted) return "budget_exceeded";
      const isStopped = signal.aborted || own?.aborted;
      return timeout?.aborted && !isStopped ? "timed_out" : "aborted";
    },
    shares: order.tasks.length,
    onProgress: (event, used) => options.onProgress(task, event, used),
  });
}

/** Merges what can be merged; other patches stay files. */
async function bringBack(
  outcomes: readonly TaskOutcome[],
  context: { isolation: TaskIsolation | undefined; signal: AbortSignal; services: TaskServices },
): Promise<TaskResult[]> {
  const { isolation, signal, services } = context;
  const results = outcomes.map(({ result }) => result);
  if (isolation === undefined || signal.aborted) return results;
  const changes = outcomes.flatMap(({ result: { id }, change }): Change[] =>
    change === undefined ? [] : [{ id, ...change }],
  );
  const mode = services.settings.get("isolation.merge");
  const { kept } = services.environment;
  const merge = () => mergeAll(isolation, changes, { mode, signal });
  const isChange = mode === "patch" && changes.length > 0;
  const outcomeOf = await (isChange && kept !== undefined ? kept.merge(merge) : merge());
  return results.map((result) => {
    const outcome = outcomeOf.get(result.id);
    if (result.patch === undefined || outcome === undefined) return result;
    const unmerged = [...(result.patch.unmerged ?? []), ...unmergedOf(outcome)];
    const told = unmerged.length > 0 ? { unmerged } : {};
    const merged = { ...result, patch: { ...result.patch, ...outcome, ...told } };
    if (outcome.status !== "conflict") return merged;
    // The work is done but not merged, so callers that rely on it must be told.
    return { ...merged, exitCode: 1, error: `Its changes do not apply: ${outcome.reason}` };
  });
}

const unmergedOf = (outcome: MergeOutcome): readonly string[] =>
  outcome.status === "branch" ? (outcome.unmerged ?? []) : [];

async function mergeAll(
  isolation: TaskIsolation,
  changes: readonly Change[],
  { mode, signal }: { mode: "patch" | "branch" | "none"; signal: AbortSignal },
): Promise<Map<string, MergeOutcome>> {
  const outcomes = new Map<string, MergeOutcome>();
  if (mode === "none" || changes.length === 0) return outcomes;
  const failedBy = (error: unknown): MergeOutcome =>
    signal.aborted
      ? { status: "kept", reason: "The call was aborted before it was merged." }
      : { status: "conflict", reason: errorMessage(error) };
  if (mode === "patch") {
    return isolation.mergeChanges(changes, signal).catch((error: unknown) => {
      const failed = failedBy(error);
      return new Map(changes.map(({ id }) => [id, failed]));
    });
  }
  for (const change of changes) {
    outcomes.set(change.id, await isolation.makeBranch(change).catch(failedBy));
  }
  return outcomes;
}
