/**
 * Has a model solve small tasks through the built host and counts the correct solutions: `evaluate --provider
 * <id> --model <id> [--thinking <level>] [--only name]… [--repeat n] [--timeout seconds] [--json path]
 * [--host "argv"]`, or `--scripted` without a model.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { hostCommand } from "../host-command.ts";
import { reportOf, resultLine, summaryText } from "./report.ts";
import { type EvaluationHost, runTasks } from "./run-tasks.ts";
import { scriptOf } from "./script.ts";
import { evaluationTasks } from "./tasks/index.ts";

const { values } = parseArgs({
  options: {
    provider: { type: "string" },
    model: { type: "string" },
    thinking: { type: "string" },
    only: { type: "string", multiple: true },
    repeat: { type: "string", default: "1" },
    timeout: { type: "string", default: "180" },
    json: { type: "string" },
    host: { type: "string" },
    scripted: { type: "boolean", default: false },
  },
});

const wanted = evaluationTasks.filter(({ name }) => values.only?.includes(name) ?? true);
if (wanted.length === 0)
  fail(`There is no such task. There are: ${evaluationTasks.map(({ name }) => name).join(", ")}`);
else if (values.scripted) await withScript((args) => evaluate(args));
else if (values.model === undefined)
  fail("Name a model: --provider <id> --model <id>, or --scripted.");
else await evaluate(modelArguments());

async function evaluate(args: readonly string[]): Promise<void> {
  const tasks = Array.from({ length: Math.max(1, Number(values.repeat)) }, () => wanted).flat();
  const host: EvaluationHost = {
    command: hostCommand(values.host),
    args,
    // The user's own keys and models, because a real model is called.
    env: process.env,
    timeoutMs: Number(values.timeout) * 1000,
  };
  const results = await runTasks(tasks, host, (result) => console.log(resultLine(result)));
  console.log(`\n${summaryText(results)}`);
  if (values.json !== undefined) {
    writeFileSync(values.json, `${JSON.stringify(reportOf(results, args), null, 2)}\n`);
  }
  if (values.scripted && results.some(({ isSolved }) => !isSolved)) process.exitCode = 1;
}

function modelArguments(): string[] {
  const { provider, model, thinking } = values;
  return [
    ...(provider === undefined ? [] : ["--provider", provider]),
    ...(model === undefined ? [] : ["--model", model]),
    ...(thinking === undefined ? [] : ["--thinking", thinking]),
  ];
}

async function withScript(run: (args: readonly string[]) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "tau-script-"));
  try {
    const path = join(folder, "script.json");
    const rounds = Array.from({ length: Math.max(1, Number(values.repeat)) }, () =>
      scriptOf(wanted),
    );
    writeFileSync(path, JSON.stringify(rounds.flat()));
    await run(["--provider", "scripted", "--model", path]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function fail(text: string): void {
  console.error(text);
  process.exitCode = 2;
}
