import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { reportOf, resultLine, summaryText } from "./report.ts";
import { runTasks, type TaskResult } from "./run-tasks.ts";
import { scriptOf } from "./script.ts";
import { editTasks, evaluationTasks } from "./tasks/index.ts";

const cli = fileURLToPath(new URL("../../../cli/src/cli.ts", import.meta.url));
const results = new Map<string, TaskResult>();

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "tau-evaluation-test-"));
  const script = join(folder, "script.json");
  writeFileSync(script, JSON.stringify(scriptOf(evaluationTasks)));
  // Runs the host and the hosts of subagents from their sources, so that the test needs no build.
  const options = `${process.env.NODE_OPTIONS ?? ""} --conditions=@tau-agent/source`;
  const all = await runTasks(evaluationTasks, {
    command: [process.execPath, cli],
    args: ["--provider", "scripted", "--model", script],
    env: { PATH: process.env.PATH, HOME: folder, NODE_OPTIONS: options },
    timeoutMs: 20_000,
  });
  for (const result of all) results.set(result.task.name, result);
  rmSync(folder, { recursive: true, force: true });
});
afterAll(() => results.clear());

describe("the tasks, with typical mistakes of models", () => {
  it.each(evaluationTasks.map((task) => [task.name, task] as const))(
    "%s can be solved",
    (name, task) => {
      const result = results.get(name);
      expect(result?.error).toBeUndefined();
      expect(result?.unused).toEqual([]);
      expect(result?.calls).toEqual(task.scripted.map(({ outcome = "exact" }) => outcome));
      expect(result?.isSolved).toBe(true);
    },
  );

  it("include 30 edits in five languages, none solved from the start", () => {
    expect(editTasks).toHaveLength(30);
    expect(new Set(editTasks.map(({ name }) => name)).size).toBe(30);
    expect(new Set(editTasks.map(({ language }) => language)).size).toBe(5);
    for (const { start, expected } of editTasks) expect(start).not.toBe(expected);
  });

  it("are reported as lines, totals and data", () => {
    const all = [...results.values()];
    expect(summaryText(all)).toMatch(
      /^37 of 37 tasks solved\.\n\d+ calls, \d+ of them matched loosely/,
    );
    const [first] = all;
    expect(first && resultLine(first)).toMatch(/^solved {2}ts-exact .* exact exact$/);
    expect(reportOf(all, [])).toMatchObject({ totals: { solved: 37, tasks: 37 } });
  });
});
