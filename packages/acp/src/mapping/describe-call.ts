import { isAbsolute, resolve } from "node:path";
import type { ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";

type Arguments = Readonly<Record<string, unknown>>;

export interface DescribedCall {
  readonly title: string;
  readonly kind: ToolKind;
  readonly locations: ToolCallLocation[];
}

interface ToolTraits {
  readonly kind: ToolKind;
  readonly title: (args: Arguments) => string;
  readonly hasPlace: boolean;
}

/** Tau's own tools; every other tool is shown by its name. */
const tools: Readonly<Record<string, ToolTraits>> = {
  read: { kind: "read", title: ({ path }) => `Read ${shown(path)}`, hasPlace: true },
  edit: { kind: "edit", title: ({ path }) => `Edit ${shown(path)}`, hasPlace: true },
  write: { kind: "edit", title: ({ path }) => `Write ${shown(path)}`, hasPlace: true },
  grep: { kind: "search", title: (args) => `Search ${searched(args)}`, hasPlace: true },
  find: { kind: "search", title: (args) => `Find ${searched(args)}`, hasPlace: true },
  ls: { kind: "search", title: ({ path = "." }) => `List ${shown(path)}`, hasPlace: true },
  bash: { kind: "execute", title: ({ command }) => shown(command), hasPlace: false },
  todo_write: { kind: "think", title: () => "Update the plan", hasPlace: false },
  task: { kind: "other", title: taskTitle, hasPlace: false },
};

/** Tools whose output is file content or program output, not prose. */
const codeTools: ReadonlySet<string> = new Set(["read", "grep", "find", "ls", "bash"]);

export function saysCode(toolName: string): boolean {
  return codeTools.has(toolName);
}

/** Describes a call. The arguments come from a model, so they may have any shape. */
export function describeCall(toolName: string, args: unknown, cwd: string): DescribedCall {
  const given = asArguments(args);
  const traits = Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
  if (traits === undefined) return { title: toolName, kind: "other", locations: [] };
  const title = traits.title(given).trim();
  return {
    title: title === "" ? toolName : title,
    kind: traits.kind,
    locations: traits.hasPlace ? placeOf(given, cwd) : [],
  };
}

export function asArguments(args: unknown): Arguments {
  return isJsonObject(args) ? args : {};
}

export function absolutePath(path: string, cwd: string): string {
  return isAbsolute(path) ? path : resolve(cwd, path);
}

function placeOf({ path, offset }: Arguments, cwd: string): ToolCallLocation[] {
  if (typeof path !== "string" || path === "") return [];
  const line = typeof offset === "number" && offset >= 1 ? Math.trunc(offset) : undefined;
  const isWritable = line !== undefined && line < 2 ** 32;
  return [{ path: absolutePath(path, cwd), ...(isWritable ? { line } : {}) }];
}

function searched({ pattern, path }: Arguments): string {
  return [shown(pattern), ...(typeof path === "string" ? ["in", path] : [])].join(" ");
}

function taskTitle({ description, task, tasks }: Arguments): string {
  if (Array.isArray(tasks)) return `Run ${tasks.length} subagents`;
  return `Subagent: ${shown(description ?? task)}`;
}

const MAX_TITLE = 2_000;

function shown(value: unknown): string {
  const text = typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
  return text.length > MAX_TITLE ? `${text.slice(0, MAX_TITLE)}…` : text;
}
