import type { SessionEvent } from "@tau-agent/rpc-protocol";
import type { Usage } from "@tau-agent/rpc-protocol/messages";

/** What work has used; the same counts as in the session's statistics. */
export interface Consumption {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly costUsd: number;
  readonly toolCalls: number;
  readonly subagents: number;
}

/** Nothing used yet. */
export const nothingUsed: Consumption = {
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  costUsd: 0,
  toolCalls: 0,
  subagents: 0,
};

const keys = [
  "inputTokens",
  "outputTokens",
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

/** What `later` has more than `earlier`. */
function minus(later: Consumption, earlier: Consumption): Consumption {
  const rest = { ...later };
  for (const key of keys) rest[key] = later[key] - earlier[key];
  return rest;
}

/** What the end of a message used: its tokens, and the calls it asks for. */
export function usedBy(event: SessionEvent): Partial<Consumption> | undefined {
  if (event.type !== "message_end" || event.message.role !== "assistant") return undefined;
  const { usage, content, stopReason } = event.message;
  const hasFailed = stopReason === "error" || stopReason === "aborted";
  const calls = hasFailed ? 0 : content.filter(({ type }) => type === "toolCall").length;
  return { ...tokensOf(usage), toolCalls: calls };
}

function tokensOf({ input, output, cacheRead, cacheWrite, totalTokens, cost }: Usage) {
  return {
    inputTokens: input,
    outputTokens: output,
    totalTokens: totalTokens ?? input + output + cacheRead + cacheWrite,
    costUsd: cost.total,
  };
}

/** Whether a value that crossed a process border is a consumption. */
function isConsumption(value: unknown): value is Consumption {
  return (
    typeof value === "object" &&
    value !== null &&
    keys.every((key) => Number.isFinite(Reflect.get(value, key)))
  );
}

/**
 * Adds up what one subagent uses, its own subagents included: those show in the progress of its
 * `task` calls, as one running sum per call.
 */
export class SubagentMeter {
  #own = nothingUsed;
  readonly #nested = new Map<string, Consumption>();

  /** Takes an event of the subagent; returns what it added. */
  note(event: SessionEvent): Consumption | undefined {
    const before = this.total;
    const own = usedBy(event);
    if (own !== undefined) this.#own = plus(this.#own, own);
    else if (event.type === "subagent_start") this.#own = plus(this.#own, { subagents: 1 });
    else if (event.type === "tool_execution_update" && event.toolName === "task") {
      const used: unknown = Reflect.get(Object(event.partialResult.details), "used");
      if (!isConsumption(used)) return undefined;
      // Those are counted where they start, at every depth.
      this.#nested.set(event.toolCallId, { ...used, subagents: 0 });
    } else return undefined;
    return minus(this.total, before);
  }

  get total(): Consumption {
    return [...this.#nested.values()].reduce((sum, used) => plus(sum, used), this.#own);
  }
}
