import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { EvalRun, EvalTask } from "./eval-task.ts";
import type { EvalJournal } from "./journal.ts";
import { type EvalHosts, runTask } from "./run-task.ts";

interface Evaluation {
  readonly tasks: readonly EvalTask[];
  readonly runs: number;
  readonly jobs: number;
  readonly hosts: EvalHosts;
  readonly journal: EvalJournal;
  /** The folder for everything that is kept. */
  readonly folder: string;
  readonly onRun: (result: EvalRun) => void;
}

/** After so many runs that fail with the same error, no run is expected to succeed. */
const SAME_FAILURES = 3;

/** Why an evaluation ended early; undefined if every run has its result. */
export type Stopped = { readonly reason: string } | undefined;

/**
 * Runs every task as often as requested, several runs in parallel. Reuses the results of an earlier, killed
 * command if their tasks are unchanged.
 */
export async function evaluate(
  evaluation: Evaluation,
): Promise<{ readonly results: readonly EvalRun[]; readonly stopped: Stopped }> {
  const { tasks, runs, jobs, hosts, journal, folder, onRun } = evaluation;
  await Promise.all(journal.left.map((root) => rm(root, { recursive: true, force: true })));
  const wanted = Array.from({ length: runs }, (_, index) =>
    tasks.map((task) => ({ task, run: index + 1 })),
  ).flat();
  const isOf =
    ({ task, run }: (typeof wanted)[number]) =>
    (result: EvalRun) =>
      result.task === task.name && result.run === run && result.digest === task.digest;
  const results = wanted.flatMap((each) => journal.done.findLast(isOf(each)) ?? []);
  const open = wanted.filter((each) => !results.some(isOf(each)));
  const fresh: EvalRun[] = [];
  let stopped: Stopped;
  const workOff = async (): Promise<void> => {
    for (let next = open.shift(); next !== undefined; next = open.shift()) {
      if (stopped !== undefined) return;
      const { task, run } = next;
      const sessions = join(folder, "sessions", encodeURIComponent(task.name), String(run));
      const begun = (root: string | undefined) => journal.begin({ task: task.name, run, root });
      const result = await runTask(task, run, { hosts, sessions, begun });
      fresh.push(result);
      stopped ??= sameFailure(fresh);
      // Running the same command again retries a run that could not take place.
      if (result.status !== "error") await journal.end(result);
      results.push(result);
      onRun(result);
    }
  };
  await Promise.all(Array.from({ length: jobs }, workOff));
  return { results, stopped };
}

function sameFailure(results: readonly EvalRun[]): Stopped {
  if (results.length !== SAME_FAILURES) return undefined;
  const [first] = results;
  const areSame = results.every(
    ({ status, error = "" }) =>
      status === "error" && wordsOf(error) === wordsOf(first?.error ?? ""),
  );
  return areSame ? { reason: String(first?.error) } : undefined;
}

/** Counts, names of temporary folders and the like differ between otherwise equal errors. */
function wordsOf(error: string): string {
  return error.replace(/\S*\d\S*/g, "");
}
