import { createHash } from "node:crypto";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { type BudgetLimits, ProtocolError } from "@tau-agent/rpc-protocol";
import { errorMessage, isJsonObject, nearestHint } from "@tau-agent/rpc-protocol/plain";
import { isInside } from "@tau-agent/system";
import type { EvalTask } from "./eval-task.ts";

const members = ["prompt", "folder", "setup", "check", "budget", "workspace"];
const taskFile = /^(?<stem>.+)\.(?<format>toml|json)$/;

/**
 * The tasks of a folder, by name: `<name>.toml`, `<name>.json`, or `task.toml` and `task.json` in `<name>/`.
 *
 * @throws {ProtocolError} `invalid_option` that names the file and the member
 */
export async function readTasks(folder: string): Promise<EvalTask[]> {
  const refuse = (reason: string): never => {
    throw new ProtocolError("invalid_option", { option: folder, reason });
  };
  const found = await readdir(folder, { withFileTypes: true }).catch((error: unknown) =>
    refuse(errorMessage(error)),
  );
  const tasks = new Map<string, EvalTask>();
  for (const { name } of found.sort((a, b) => a.name.localeCompare(b.name))) {
    const path = join(folder, name);
    const files = (await stat(path)).isDirectory()
      ? ["task.toml", "task.json"].map((file) => join(path, file))
      : [path];
    for (const file of files) {
      const task = await readTask(file, file === path ? undefined : name);
      if (task === undefined) continue;
      if (tasks.has(task.name)) refuse(`it has two tasks with the name ${task.name}`);
      tasks.set(task.name, task);
    }
  }
  if (tasks.size === 0) refuse("it has no task: no <name>.toml or .json, and no <name>/task.toml");
  return [...tasks.values()];
}

/** Undefined if the entry is not the file of a task. */
async function readTask(file: string, given: string | undefined): Promise<EvalTask | undefined> {
  const { stem, format } = taskFile.exec(basename(file))?.groups ?? {};
  if (stem === undefined) return undefined;
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const refuse = (reason: string): never => {
    throw new ProtocolError("invalid_option", { option: file, reason });
  };
  const value = await parsed(text, format).catch((error: unknown) => refuse(errorMessage(error)));
  if (!isJsonObject(value)) return refuse("expected a table");
  for (const name of Object.keys(value)) {
    if (members.includes(name)) continue;
    refuse(
      `there is no member ${name}; there are ${members.join(", ")}${nearestHint(name, members)}`,
    );
  }
  const textOf = (name: string): string | undefined => {
    const member = value[name];
    if (member === undefined) return undefined;
    return typeof member === "string" && member.trim() !== ""
      ? member
      : refuse(`${name}: expected a text that is not empty`);
  };
  const base = dirname(file);
  const folder = textOf("folder");
  const copied = folder === undefined ? undefined : await folderIn(base, folder, refuse);
  const checkFolder = given === undefined ? undefined : join(base, "check");
  const isThere = checkFolder !== undefined && (await isFolder(checkFolder));
  if (copied !== undefined && isInside(copied, await realpath(file))) {
    refuse(
      "folder: it contains the task itself, and with it the check that the agent must not see",
    );
  }
  const { workspace } = value;
  return {
    name: given ?? stem,
    prompt: textOf("prompt") ?? refuse("prompt: it is missing"),
    setup: textOf("setup"),
    check: textOf("check") ?? refuse("check: it is missing"),
    folder: copied,
    checkFolder: isThere ? checkFolder : undefined,
    budget: value.budget === undefined ? undefined : budgetOf(value.budget, refuse),
    workspace: isJsonObject(workspace) ? JSON.stringify(workspace) : textOf("workspace"),
    digest: createHash("sha256").update(text).digest("hex").slice(0, 16),
  };
}

const limits = {
  maxWallTimeMs: true,
  maxInputTokens: true,
  maxOutputTokens: true,
  maxTotalTokens: true,
  maxCostUsd: true,
  maxToolCalls: true,
  maxSubagents: true,
} satisfies Record<keyof BudgetLimits, true>;

function budgetOf(given: unknown, refuse: (reason: string) => never): BudgetLimits {
  if (!isJsonObject(given)) return refuse("budget: expected a table");
  const names = Object.keys(limits);
  for (const [name, value] of Object.entries(given)) {
    if (!names.includes(name)) {
      refuse(`budget: there is no limit ${name}; there are ${names.join(", ")}`);
    }
    if (typeof value !== "number" || !(value >= 0)) refuse(`budget.${name}: expected a number`);
  }
  return given as BudgetLimits;
}

async function parsed(text: string, format: string | undefined): Promise<unknown> {
  if (format === "json") return JSON.parse(text);
  const { parse } = await import("smol-toml");
  return parse(text);
}

async function folderIn(
  base: string,
  given: string,
  refuse: (reason: string) => never,
): Promise<string> {
  const path = resolve(base, given);
  if (!(await isFolder(path))) refuse(`folder: ${given} is not a folder`);
  return realpath(path);
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
