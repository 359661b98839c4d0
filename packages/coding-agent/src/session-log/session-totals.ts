import type { KnownSessionEntry, SessionEntry, SessionStats } from "@tau-agent/rpc-protocol";
import type { AgentMessage, Usage } from "@tau-agent/rpc-protocol/messages";
import {
  type Consumption,
  consumptionOf,
  nothingUsed,
  plus,
  usedByMessage,
  usedByTask,
} from "./consumption.ts";
import { normalizeMessage } from "./entries/normalize-message.ts";

/** Type of the custom entries that record the cost of requests whose results were not kept. */
export const USAGE_ENTRY = "tau:usage";

type Tokens = SessionStats["tokens"];

const noTokens = (): Tokens => ({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 });

/** Running totals over all entries of a session, so that statistics never traverse the file. */
export class SessionTotals {
  userMessages = 0;
  assistantMessages = 0;
  toolCalls = 0;
  toolResults = 0;
  totalMessages = 0;
  /** Of the session and its subagents together. */
  cost = 0;
  readonly tokens: Tokens = noTokens();
  /** The subagents' part. */
  readonly subagents = { count: 0, tokens: noTokens(), cost: 0 };
  /** As a budget counts it. */
  consumption: Consumption = nothingUsed;
  /** Time spent in runs, computed from the times of the entries. */
  runTimeMs = 0;
  #lastTime: string | undefined;

  /** Counts one entry. */
  add(entry: SessionEntry): void {
    const known = entry as KnownSessionEntry;
    const previousTime = this.#lastTime;
    this.#lastTime = known.timestamp;
    if (known.type === "message") {
      const message = normalizeMessage(known.message);
      this.#addMessage(message);
      // Entries of a run come after the work they record; any other entry ends a pause.
      const isOfRun = message.role === "assistant" || message.role === "toolResult";
      if (isOfRun && !isInterrupted(message)) this.#addTime(previousTime, known.timestamp);
    } else if (known.type === "custom_message") this.totalMessages += 1;
    else if (known.type === "compaction" || known.type === "branch_summary")
      this.#addUsageOf(entry);
    else if (known.type === "custom" && known.customType === USAGE_ENTRY)
      this.#addUsageOf(Object(known.data));
  }

  #addMessage(message: AgentMessage): void {
    this.totalMessages += 1;
    if (message.role === "user") this.userMessages += 1;
    if (message.role === "toolResult") {
      this.toolResults += 1;
      this.#addSubagents(usedByTask(message.toolName, message.details));
    }
    if (message.role === "assistant") {
      this.assistantMessages += 1;
      for (const block of message.content) if (block.type === "toolCall") this.toolCalls += 1;
    }
    if ("usage" in message) this.#addTokens(message.usage);
    this.#consume(usedByMessage(message));
  }

  #addUsageOf(entry: object): void {
    if (!("usage" in entry)) return;
    const usage = entry.usage as Usage | undefined;
    this.#addTokens(usage);
    if (usage !== undefined) this.#consume(consumptionOf(usage));
  }

  #addTokens(usage: Usage | undefined): void {
    if (usage === undefined) return;
    addTokens(this.tokens, usage);
    this.cost += usage.cost?.total ?? 0;
  }

  #addSubagents(used: Consumption | undefined): void {
    if (used === undefined) return;
    const tokens = {
      input: used.inputTokens,
      output: used.outputTokens,
      cacheRead: used.cacheReadTokens,
      cacheWrite: used.cacheWriteTokens,
    };
    addTokens(this.tokens, tokens);
    addTokens(this.subagents.tokens, tokens);
    this.subagents.count += used.subagents;
    this.subagents.cost += used.costUsd;
    this.cost += used.costUsd;
    this.#consume(used);
  }

  #consume(used: Partial<Consumption> | undefined): void {
    if (used !== undefined) this.consumption = plus(this.consumption, used);
  }

  #addTime(from: string | undefined, to: string): void {
    const passedMs = Date.parse(to) - Date.parse(from ?? to);
    if (passedMs > 0) this.runTimeMs += passedMs;
  }
}

/** Written when the session was continued, possibly long after the call had ended with its host. */
function isInterrupted(message: AgentMessage): boolean {
  return (
    message.role === "toolResult" && Reflect.get(Object(message.details), "interrupted") === true
  );
}

function addTokens(sum: Tokens, added: Omit<Tokens, "total">): void {
  sum.input += added.input;
  sum.output += added.output;
  sum.cacheRead += added.cacheRead;
  sum.cacheWrite += added.cacheWrite;
  sum.total = sum.input + sum.output + sum.cacheRead + sum.cacheWrite;
}
