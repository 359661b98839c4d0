import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Child, type Environment, type Frame } from "../child.ts";
import type { EditTask } from "./edit-task.ts";

export interface TaskResult {
  readonly task: EditTask;
  /** The file is as expected, byte for byte. */
  readonly isSolved: boolean;
  /** Of each call that read or changed files, in order. */
  readonly calls: readonly ("exact" | "loose" | "refused")[];
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
  /** After which a task has failed. */
  readonly timeoutMs: number;
}

/** Runs tasks one after the other, each in a new session of one host. */
export async function runTasks(
  tasks: readonly EditTask[],
  host: EvaluationHost,
  onResult: (result: TaskResult) => void = () => {},
): Promise<TaskResult[]> {
  const cwd = mkdtempSync(join(tmpdir(), "tau-evaluation-"));
  const command = [...host.command, "--mode", "rpc", "--no-session", ...host.args] as const;
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

async function runTask(task: EditTask, { child, cwd, timeoutMs }: Running): Promise<TaskResult> {
  const file = pathOf(task);
  mkdirSync(join(cwd, task.name), { recursive: true });
  writeFileSync(join(cwd, file), task.start);
  await child.request("new_session");
  const began = performance.now();
  const calls: TaskResult["calls"][number][] = [];
  let error: string | undefined;
  let isSettled = false;
  const settled = follow(child, (frame) => {
    if (frame.type === "tool_execution_end") calls.push(outcomeOf(frame));
    if (frame.type === "message_end") error = errorOf(frame) ?? error;
    isSettled = frame.type === "agent_settled";
    return !isSettled;
  });
  await child.request("prompt", { message: task.task.replaceAll("FILE", file) });
  await Promise.race([settled, expired(timeoutMs)]);
  if (!isSettled) {
    error = `not done after ${timeoutMs / 1000} s`;
    await child.request("abort");
    await settled;
  }
  const stats = Object(await child.request("get_session_stats")) as Partial<Stats>;
  return {
    task,
    isSolved: readFileSync(join(cwd, file), "utf8") === task.expected,
    calls,
    tokens: stats.tokens?.total ?? 0,
    costUsd: stats.cost ?? 0,
    seconds: (performance.now() - began) / 1000,
    ...(error === undefined ? {} : { error }),
  };
}

/** Where a task's file is, seen from the host's folder. */
export function pathOf({ name, fileName }: EditTask): string {
  return `${name}/${fileName}`;
}

interface Stats {
  readonly tokens: { readonly total: number };
  readonly cost: number;
}

/** Hands every frame to `onFrame` until that says no. */
async function follow(child: Child, onFrame: (frame: Frame) => boolean): Promise<void> {
  await child.next((frame) => !onFrame(frame));
}

function outcomeOf({ result, isError }: Frame): TaskResult["calls"][number] {
  if (isError === true) return "refused";
  return JSON.stringify(result).includes("was not an exact match") ? "loose" : "exact";
}

function errorOf({ message }: Frame): string | undefined {
  const { stopReason, errorMessage } = Object(message) as Record<string, unknown>;
  return stopReason === "error" ? String(errorMessage) : undefined;
}

function expired(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
