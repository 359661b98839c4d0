import type { EvalRun, EvalTask } from "./eval-task.ts";

/** The results of one task, or of all tasks. */
export interface EvalScore {
  readonly name: string;
  readonly runs: number;
  readonly passed: number;
  /** The probability that one run passes, and that at least one of `k` passes. */
  readonly passAt1: number;
  readonly passAtK: number;
  readonly costUsd: number;
  readonly tokens: number;
  /** The average per run. */
  readonly timeMs: number;
  readonly errors: number;
}

export function scoreTask(name: string, runs: readonly EvalRun[], k: number): EvalScore {
  const passed = runs.filter((run) => run.passed).length;
  return {
    name,
    runs: runs.length,
    passed,
    passAt1: passAt(1, runs.length, passed),
    passAtK: passAt(k, runs.length, passed),
    costUsd: sum(runs.map(({ costUsd }) => costUsd)),
    tokens: sum(runs.map(({ tokens }) => sum(Object.values(tokens)))),
    timeMs: runs.length === 0 ? 0 : sum(runs.map(({ timeMs }) => timeMs)) / runs.length,
    errors: runs.filter(({ status }) => status === "error").length,
  };
}

/** The score of all tasks together; every task has the same weight. */
export function scoreAll(scores: readonly EvalScore[]): EvalScore {
  const mean = (of: (score: EvalScore) => number) =>
    scores.length === 0 ? 0 : sum(scores.map(of)) / scores.length;
  const total = (of: (score: EvalScore) => number) => sum(scores.map(of));
  return {
    name: "all",
    runs: total(({ runs }) => runs),
    passed: total(({ passed }) => passed),
    passAt1: mean(({ passAt1 }) => passAt1),
    passAtK: mean(({ passAtK }) => passAtK),
    costUsd: total(({ costUsd }) => costUsd),
    tokens: total(({ tokens }) => tokens),
    timeMs: mean(({ timeMs }) => timeMs),
    errors: total(({ errors }) => errors),
  };
}

/** The probability that at least one of `k` runs passed, if they are drawn from `runs` of which `passed` passed. */
export function passAt(k: number, runs: number, passed: number): number {
  if (passed === 0 || runs === 0) return 0;
  let allFail = 1;
  for (let draw = 0; draw < Math.min(k, runs); draw++) {
    allFail *= Math.max(0, runs - passed - draw) / (runs - draw);
  }
  return 1 - allFail;
}

/** A table for human readers. */
export function evalTable(tasks: readonly EvalTask[], runs: readonly EvalRun[], k: number): string {
  const scores = tasks.map(({ name }) =>
    scoreTask(
      name,
      runs.filter(({ task }) => task === name),
      k,
    ),
  );
  const head = [
    "task",
    "passed",
    "pass@1",
    ...(k > 1 ? [`pass@${k}`] : []),
    "cost",
    "tokens",
    "time",
  ];
  const rows = [...scores, scoreAll(scores)].map((score) => [
    score.name,
    `${score.passed}/${score.runs}${score.errors > 0 ? ` (${score.errors} failed to run)` : ""}`,
    percent(score.passAt1),
    ...(k > 1 ? [percent(score.passAtK)] : []),
    `$${score.costUsd.toFixed(4)}`,
    String(score.tokens),
    `${(score.timeMs / 1000).toFixed(1)} s`,
  ]);
  const widths = head.map((title, column) =>
    Math.max(...[title, ...rows.map((row) => row[column] ?? "")].map((cell) => cell.length)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  const rule = "-".repeat(sum(widths) + 2 * (widths.length - 1));
  const last = rows.at(-1) ?? [];
  return `${[line(head), rule, ...rows.slice(0, -1).map(line), rule, line(last)].join("\n")}\n`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
