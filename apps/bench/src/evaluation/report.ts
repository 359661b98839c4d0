import type { TaskResult } from "./run-tasks.ts";

export function resultLine(result: TaskResult): string {
  const { task, isSolved, calls, unused, seconds, error } = result;
  const verdict = isSolved ? "solved" : "FAILED";
  const missed = unused.length === 0 ? "" : `, without ${unused.join(" and ")}`;
  const detail = error ?? `${calls.join(" ")}${missed}`;
  return `${verdict}  ${task.name.padEnd(22)} ${seconds.toFixed(1).padStart(6)} s  ${detail}`;
}

export function summaryText(results: readonly TaskResult[]): string {
  const { solved, tasks, loose, refused, calls, tokens, costUsd } = totalsOf(results);
  return [
    `${solved} of ${tasks} tasks solved.`,
    `${calls} calls, ${loose} of them matched loosely, ${refused} were refused.`,
    `${tokens} tokens, ${costUsd.toFixed(4)} USD.`,
  ].join("\n");
}

export function reportOf(results: readonly TaskResult[], args: readonly string[]): object {
  const rows = results.map(({ task, ...rest }) => ({
    task: task.name,
    language: task.language,
    form: task.form,
    ...rest,
  }));
  return { date: new Date().toISOString(), args, totals: totalsOf(results), results: rows };
}

function totalsOf(results: readonly TaskResult[]) {
  const outcomes = results.flatMap(({ calls }) => calls);
  const sum = (amountOf: (result: TaskResult) => number): number =>
    results.reduce((total, result) => total + amountOf(result), 0);
  return {
    tasks: results.length,
    solved: results.filter(({ isSolved }) => isSolved).length,
    calls: outcomes.length,
    loose: outcomes.filter((outcome) => outcome === "loose").length,
    refused: outcomes.filter((outcome) => outcome === "refused").length,
    tokens: sum(({ tokens }) => tokens),
    costUsd: sum(({ costUsd }) => costUsd),
  };
}
