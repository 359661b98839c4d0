import type { SessionEvent, SessionStats } from "@tau-agent/rpc-protocol";
import type { AgentMessage, Usage } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";

/** The consumption of some work; the same counts as in the session's statistics. */
export interface Consumption {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly totalTokens: number;
  readonly costUsd: number;
  readonly toolCalls: number;
  readonly subagents: number;
}

/** Nothing used yet. */
export const nothingUsed: Consumption = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  totalTokens: 0,
  costUsd: 0,
  toolCalls: 0,
  subagents: 0,
};

const keys = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "totalTokens",
  "costUsd",
  "toolCalls",
  "subagents",
] as const satisfies readonly (keyof Consumption)[];

/** The sum of both. */
export function plus(left: Consumption, right: Partial<Consumption>): Consumption {
  const sum = { ...left };
  for (const key of keys) sum[key] = left[key] + (right[key] ?? 0);
  return sum;
}

/** The difference between `later` and `earlier`. */
export function minus(later: Consumption, earlier: Consumption): Consumption {
  const rest = { ...later };
  for (const key of keys) rest[key] = later[key] - earlier[key];
  return rest;
}

/** The consumption reported at the end of a message; a task's is counted while it runs. */
export function usedBy(event: SessionEvent): Partial<Consumption> | undefined {
  return event.type === "message_end" ? usedByMessage(event.message) : undefined;
}

/** The tokens of a reply and its number of calls, or the tokens of a tool that called a model itself. */
export function usedByMessage(message: AgentMessage): Partial<Consumption> | undefined {
  if (message.role === "toolResult") return message.usage && consumptionOf(message.usage);
  if (message.role !== "assistant") return undefined;
  const { usage, content, stopReason } = message;
  const hasFailed = stopReason === "error" || stopReason === "aborted";
  const calls = hasFailed ? 0 : content.filter(({ type }) => type === "toolCall").length;
  return { ...consumptionOf(usage), toolCalls: calls };
}

/** The tokens and cost of a request. */
export function consumptionOf({
  input,
  output,
  cacheRead,
  cacheWrite,
  totalTokens,
  cost,
}: Usage): Partial<Consumption> {
  return {
    inputTokens: input,
    outputTokens: output,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    totalTokens: totalTokens ?? input + output + cacheRead + cacheWrite,
    costUsd: cost?.total ?? 0,
  };
}

/**
 * The consumption of a `task` call's subagents according to its details, which may come from files
 * and other processes.
 */
export function usedByTask(toolName: string, details: unknown): Consumption | undefined {
  if (toolName !== "task") return undefined;
  const used: unknown = Reflect.get(Object(details), "used");
  if (typeof used !== "object" || used === null) return undefined;
  // Only newer hosts report cached tokens separately.
  const told = { ...nothingUsed, ...used };
  return keys.every((key) => Number.isFinite(told[key])) ? told : undefined;
}

/**
 * Adds up the consumption of one subagent, including its own subagents, which appear in the
 * progress of its `task` calls as one running sum per call.
 */
export class SubagentMeter {
  #own: Consumption;
  readonly #nested = new Map<string, Consumption>();
  #total: Consumption;
  #hasReadForeign = false;

  /** @param before - its earlier consumption in the same conversation */
  constructor(before: Consumption = nothingUsed) {
    this.#own = before;
    this.#total = before;
  }

  /** Whether the subagent, or one that it started, has read text from outside. */
  get hasReadForeign(): boolean {
    return this.#hasReadForeign;
  }

  /** Processes an event of the subagent; returns the consumption that it added. */
  note(event: SessionEvent): Consumption | undefined {
    this.#hasReadForeign ||= isForeignResult(event);
    const before = this.#total;
    const own = usedBy(event);
    if (own !== undefined) this.#own = plus(this.#own, own);
    else if (event.type === "subagent_start") this.#own = plus(this.#own, { subagents: 1 });
    else if (event.type === "tool_execution_update" || event.type === "tool_execution_end") {
      const { details } = event.type === "tool_execution_end" ? event.result : event.partialResult;
      const used = usedByTask(event.toolName, details);
      if (used === undefined) return undefined;
      // Nested subagents are counted where they start, at every depth.
      this.#nested.set(event.toolCallId, { ...used, subagents: 0 });
    } else return undefined;
    this.#total = [...this.#nested.values()].reduce(plus, this.#own);
    return minus(this.#total, before);
  }

  /** Adds the difference to the subagent's own statistics: events do not cover summaries and renewed caches. */
  settle({ tokens, cost }: Pick<SessionStats, "tokens" | "cost">): Consumption | undefined {
    const told = this.#total;
    const untold = (all: number, known: number): number => Math.max(0, all - known);
    const used = {
      inputTokens: untold(tokens.input, told.inputTokens),
      outputTokens: untold(tokens.output, told.outputTokens),
      cacheReadTokens: untold(tokens.cacheRead, told.cacheReadTokens),
      cacheWriteTokens: untold(tokens.cacheWrite, told.cacheWriteTokens),
    };
    const totalTokens = Object.values(used).reduce((sum, count) => sum + count, 0);
    if (totalTokens === 0) return undefined;
    const costUsd = untold(cost, told.costUsd);
    const added = { ...nothingUsed, ...used, totalTokens, costUsd };
    this.#own = plus(this.#own, added);
    this.#total = plus(told, added);
    return added;
  }

  /** A new object only when something was added. */
  get total(): Consumption {
    return this.#total;
  }
}

function isForeignResult(event: SessionEvent): boolean {
  if (event.type !== "tool_execution_end") return false;
  const { details } = event.result;
  return isJsonObject(details) && details.untrusted === true;
}
