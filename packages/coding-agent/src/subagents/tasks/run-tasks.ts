import { join } from "node:path";
import { ToolError } from "@tau-agent/agent";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { type Consumption, nothingUsed } from "@tau-agent/sessions/log";
import { isTimed, makeFolder, randomHex } from "@tau-agent/system";
import {
  type Change,
  Isolation,
  type MergeOutcome,
  makeBranch,
  mergeChanges,
  taskFileNames,
} from "@tau-agent/worktrees";
import { runSubagent, type TaskOutcome, type TaskRun } from "./run-subagent.ts";
import type { Task, TaskOrder } from "./task-order.ts";
import { type TaskResult, type TaskStatus, unstartedResult } from "./task-result.ts";
import type { TaskServices } from "./task-services.ts";

export interface RunTasksOptions {
  readonly services: TaskServices;
  readonly signal: AbortSignal;
  readonly toolCallId: string;
  readonly onProgress: (task: Task, event: SessionEvent, used: Consumption) => void;
}

/**
 * Executes the tasks of a call, as many at once as the settings allow, then merges isolated work in
 * the order of the tasks. A failed task does not affect the others. `leftOut` lists untracked files
 * too large to copy, `started` counts the subagents taken from the budget.
 *
 * @throws {ToolError} when tasks cannot be isolated here
 */
export async function runTasks(
  order: TaskOrder,
  options: RunTasksOptions,
): Promise<{ results: TaskResult[]; leftOut: readonly string[]; started: number }> {
  const { services, signal } = options;
  const { environment, agentDirectory, settings } = services;
  const artifactsFolder = artifactsFolderOf(services);
  const isolation = order.isolated
    ? await Isolation.open({
        environment,
        worktreesRoot: join(agentDirectory, "worktrees"),
        isProjectTrusted: services.session().isProjectTrusted,
        maxCopyBytes: settings.get("isolation.maxCopyBytes"),
        signal,
      }).catch((error: unknown) => {
        if (!signal.aborted) throw error;
        throw new ToolError("The call was aborted before its tasks started.");
      })
    : undefined;
  try {
    await makeFolder(artifactsFolder, 0o700);
    const outcomes = await runAll(order, options, { artifactsFolder, isolation });
    const results = await bringBack(outcomes, { isolation, signal, services });
    const started = outcomes.filter(({ wasTaken }) => wasTaken).length;
    return { results, leftOut: isolation?.baseline.leftOut ?? [], started };
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
  options: RunTasksOptions,
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
      outcomes[index] = await runOne(task, order, { ...options, place: { ...place, fileName } });
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, order.tasks.length) }, work));
  return outcomes;
}

async function runOne(
  task: Task,
  order: TaskOrder,
  options: RunTasksOptions & {
    place: Pick<TaskRun, "artifactsFolder" | "isolation" | "fileName">;
  },
): Promise<TaskOutcome> {
  const { services, signal, toolCallId, place } = options;
  const { budget, settings } = services;
  const { id, agent, description } = task;
  const refuse = (status: TaskStatus, error: string): TaskOutcome => ({
    wasTaken: false,
    result: unstartedResult(
      { id, agent: agent.name, description, isolated: order.isolated },
      { status, error, used: nothingUsed },
    ),
  });
  if (signal.aborted) return refuse("aborted", "The call was aborted before this task started.");
  try {
    await budget.takeSubagent({ toolCallId, signal });
  } catch (error) {
    return refuse("budget_exceeded", errorMessage(error));
  }
  const maxRuntimeMs = settings.get("task.maxRuntimeMs");
  const timeout = isTimed(maxRuntimeMs) ? AbortSignal.timeout(maxRuntimeMs) : undefined;
  const spent = budget.signal;
  const signals = [signal, spent, timeout].filter((source) => source !== undefined);
  return runSubagent(task, {
    services,
    order,
    toolCallId,
    ...place,
    signal: AbortSignal.any(signals),
    abortStatus: () => {
      if (spent.aborted) return "budget_exceeded";
      return timeout?.aborted && !signal.aborted ? "timed_out" : "aborted";
    },
    shares: order.tasks.length,
    onProgress: (event, used) => options.onProgress(task, event, used),
  });
}

/** Merges what may be merged; other patches stay files. */
async function bringBack(
  outcomes: readonly TaskOutcome[],
  context: { isolation: Isolation | undefined; signal: AbortSignal; services: TaskServices },
): Promise<TaskResult[]> {
  const { isolation, signal, services } = context;
  const results = outcomes.map(({ result }) => result);
  if (isolation === undefined || signal.aborted) return results;
  const changes = outcomes.flatMap(({ result: { id }, change }): Change[] =>
    change === undefined ? [] : [{ id, ...change }],
  );
  const mode = services.settings.get("isolation.merge");
  const outcomeOf = await mergeAll(isolation, changes, { mode, signal });
  return results.map((result) => {
    const outcome = outcomeOf.get(result.id);
    if (result.patch === undefined || outcome === undefined) return result;
    const unmerged = [...(result.patch.unmerged ?? []), ...unmergedOf(outcome)];
    const told = unmerged.length > 0 ? { unmerged } : {};
    const merged = { ...result, patch: { ...result.patch, ...outcome, ...told } };
    if (outcome.status !== "conflict") return merged;
    // The work is done but was not merged, and callers that rely on it must know.
    return { ...merged, exitCode: 1, error: `Its changes do not apply: ${outcome.reason}` };
  });
}

const unmergedOf = (outcome: MergeOutcome): readonly string[] =>
  outcome.status === "branch" ? (outcome.unmerged ?? []) : [];

async function mergeAll(
  isolation: Isolation,
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
    return mergeChanges(isolation, changes, signal).catch((error: unknown) => {
      const failed = failedBy(error);
      return new Map(changes.map(({ id }) => [id, failed]));
    });
  }
  for (const change of changes) {
    outcomes.set(change.id, await makeBranch(isolation, change).catch(failedBy));
  }
  return outcomes;
}
