import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Child, type Environment } from "../child.ts";
import type { Frame } from "../frame-receiver.ts";
import type { EvaluationTask } from "./evaluation-task.ts";
import { releaseServer } from "./tasks/tools.ts";

export interface TaskResult {
  readonly task: EvaluationTask;
  /** Whether the file is as expected, byte for byte, and the required tools were called. */
  readonly isSolved: boolean;
  /** The outcome of each call that read or changed files, in order. */
  readonly calls: readonly ("exact" | "loose" | "refused")[];
  /** Tools of {@link EvaluationTask.uses} that were not called. */
  readonly unused: readonly string[];
  readonly tokens: number;
  readonly costUsd: number;
  readonly seconds: number;
  readonly error?: string;
}

export interface EvaluationHost {
  readonly command: readonly [string, ...string[]];
  /** The model and its settings, as options of the host. */
  readonly args: readonly string[];
  readonly env: Environment;
  /** The time limit after which a task has failed. */
  readonly timeoutMs: number;
}

/** Runs tasks one after the other, each in a new session of one host. */
export async function runTasks(
  tasks: readonly EvaluationTask[],
  host: EvaluationHost,
  onResult: (result: TaskResult) => void = () => {},
): Promise<TaskResult[]> {
  const cwd = mkdtempSync(join(tmpdir(), "tau-evaluation-"));
  const releases = { command: process.execPath, args: [releaseServer], exposure: "deferred" };
  writeFileSync(join(cwd, ".mcp.json"), JSON.stringify({ mcpServers: { releases } }));
  const options = ["--mode", "rpc", "--no-session", "--approve"];
  const command = [...host.command, ...options, ...host.args] as const;
  const child = new Child(command as readonly [string, ...string[]], { cwd, env: host.env });
  try {
    await child.request("get_state");
    const results: TaskResult[] = [];
    for (const task of tasks) {
      const result = await runTask(task, { child, cwd, timeoutMs: host.timeoutMs });
      results.push(result);
      onResult(result);
    }
    return results;
  } finally {
    await child.stop();
    rmSync(cwd, { recursive: true, force: true });
  }
}

interface Running {
  readonly child: Child;
  readonly cwd: string;
  readonly timeoutMs: number;
}

async function runTask(
  task: EvaluationTask,
  { child, cwd, timeoutMs }: Running,
): Promise<TaskResult> {
  const file = pathOf(task);
  const folder = join(cwd, task.name);
  for (const [path, text] of Object.entries({ ...task.files, [task.fileName]: task.start })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  await child.request("new_session");
  const began = performance.now();
  const calls: TaskResult["calls"][number][] = [];
  const unused = new Set(task.uses);
  let error: string | undefined;
  let isSettled = false;
  const settled = child.next((frame) => {
    if (frame.type === "tool_execution_end") {
      calls.push(outcomeOf(frame));
      unused.delete(String(frame.toolName));
    }
    if (frame.type === "message_end") error = errorOf(frame) ?? error;
    isSettled = frame.type === "agent_settled";
    return isSettled;
  });
  await child.request("prompt", { message: withPaths(task.task, task) });
  await Promise.race([settled, sleep(timeoutMs, undefined, { ref: false })]);
  if (!isSettled) {
    error = `not done after ${timeoutMs / 1000} s`;
    await child.request("abort");
    await settled;
  }
  const stats = Object(await child.request("get_session_stats")) as Partial<Stats>;
  return {
    task,
    isSolved: unused.size === 0 && readFileSync(join(cwd, file), "utf8") === task.expected,
    calls,
    unused: [...unused],
    tokens: stats.tokens?.total ?? 0,
    costUsd: stats.cost ?? 0,
    seconds: (performance.now() - began) / 1000,
    ...(error === undefined ? {} : { error }),
  };
}

/** The path of a task's file, relative to the host's folder. */
function pathOf({ name, fileName }: EvaluationTask): string {
  return `${name}/${fileName}`;
}

/** The text of a task with the paths that the host sees. */
export function withPaths(text: string, task: EvaluationTask): string {
  return text.replaceAll("FILE", pathOf(task)).replaceAll("FOLDER", task.name);
}

interface Stats {
  readonly tokens: { readonly total: number };
  readonly cost: number;
}

function outcomeOf({ result, isError }: Frame): TaskResult["calls"][number] {
  if (isError === true) return "refused";
  return JSON.stringify(result).includes("was not an exact match") ? "loose" : "exact";
}

function errorOf({ message }: Frame): string | undefined {
  const { stopReason, errorMessage } = Object(message) as Record<string, unknown>;
  return stopReason === "error" ? String(errorMessage) : undefined;
}
