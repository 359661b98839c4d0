import type { ToolCall } from "@tau-agent/rpc-protocol/messages";
import { onlyReads } from "../tools/only-reads.ts";
import type { AgentTool } from "../tools/tool.ts";

/**
 * Whether the calls of a reply run one after the other (except for adjacent calls that only read) or all
 * together (except for calls that write the same file).
 */
export type ToolExecutionMode = "sequential" | "parallel";

/** Divides calls into groups that may start together; the groups run in order. */
export async function groupCalls<Item>(
  items: readonly Item[],
  tools: readonly AgentTool[],
  { mode, callOf }: { readonly mode: ToolExecutionMode; readonly callOf: (item: Item) => ToolCall },
): Promise<Item[][]> {
  if (items.length === 0) return [];
  if (mode === "parallel" || items.length === 1) return [[...items]];
  const groups: Item[][] = [];
  let previousIsReadOnly = false;
  for (const item of items) {
    const isReadOnly = await mayRunBeside(callOf(item), tools);
    const last = groups.at(-1);
    if (last && isReadOnly && previousIsReadOnly) last.push(item);
    else groups.push([item]);
    previousIsReadOnly = isReadOnly;
  }
  return groups;
}

async function mayRunBeside(call: ToolCall, tools: readonly AgentTool[]): Promise<boolean> {
  const tool = tools.find(({ name }) => name === call.name);
  if (tool?.isParallel ?? tool?.isReadOnly) return true;
  return tool !== undefined && onlyReads(tool, call);
}

/** The file that a call writes, if its tool can tell. */
export async function fileWritten(
  tool: AgentTool,
  args: Record<string, unknown>,
): Promise<string | undefined> {
  try {
    return await tool.writtenPath?.(args);
  } catch {
    // The call itself will report what is wrong with its path.
    return undefined;
  }
}

/** Starts the work for all items at once, but for items with the same key in order. */
export function startInOrder<Item, Result>(
  items: readonly Item[],
  keys: readonly (string | undefined)[],
  work: (item: Item) => Promise<Result>,
): Promise<Result>[] {
  const last = new Map<string, Promise<unknown>>();
  return items.map((item, index) => {
    const key = keys[index];
    if (key === undefined) return work(item);
    const begin = () => work(item);
    const started = last.get(key)?.then(begin, begin) ?? begin();
    last.set(key, started);
    return started;
  });
}
