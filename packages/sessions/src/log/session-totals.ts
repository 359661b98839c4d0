import type { KnownSessionEntry, SessionEntry, SessionStats } from "@tau-agent/rpc-protocol";
import type { AgentMessage, Usage } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import {
  type Consumption,
  consumptionOf,
  nothingUsed,
  plus,
  usedByMessage,
  usedByTask,
} from "./consumption.ts";
import { normalizeMessage, usage } from "./entries/normalize-message.ts";
import type { ScannedMessage } from "./scan/index.ts";
import type { SessionTree } from "./session-tree.ts";

/** The type of custom entries that record the cost of requests whose results were not kept. */
export const USAGE_ENTRY = "tau:usage";

/** The `purpose` of such an entry for a request that renewed a prompt cache during a run. */
export const WARMING = "cache_warming";

type Mutable<Value> = { -readonly [Name in keyof Value]: Value[Name] };
type Tokens = SessionStats["tokens"];

const noTokens = (): Tokens => ({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 });

/** The totals as JSON. */
export type TotalsRecord = Pick<
  SessionTotals,
  | "userMessages"
  | "assistantMessages"
  | "toolCalls"
  | "toolResults"
  | "totalMessages"
  | "cost"
  | "tokens"
  | "subagents"
  | "cacheWarming"
  | "runTimeMs"
  | "consumption"
> & { readonly lastTimeMs: number | null };

/** Running totals over all entries of a session, so that statistics need not read the file. */
export class SessionTotals {
  userMessages = 0;
  assistantMessages = 0;
  toolCalls = 0;
  toolResults = 0;
  totalMessages = 0;
  /** The cost of the session and its subagents together. */
  cost = 0;
  readonly tokens: Tokens = noTokens();
  /** The subagents' part. */
  readonly subagents = { count: 0, tokens: noTokens(), cost: 0 };
  /** The share of requests that renewed a prompt cache. */
  readonly cacheWarming = { requests: 0, costUsd: 0 };
  readonly #consumption: Mutable<Consumption> = { ...nothingUsed };
  /** Time spent in runs, computed from the times of the entries. */
  runTimeMs = 0;
  #lastTimeMs: number | undefined;

  /** The consumption as a budget counts it. */
  get consumption(): Consumption {
    return { ...this.#consumption };
  }

  /** The totals in stored form. */
  get record(): TotalsRecord {
    const { consumption } = this;
    return { ...this, consumption, lastTimeMs: this.#lastTimeMs ?? null };
  }

  /** Stored totals; undefined if the value is not in that form. */
  static restored(value: unknown): SessionTotals | undefined {
    const totals = new SessionTotals();
    const { lastTimeMs, consumption, ...counts } = Object(value) as TotalsRecord;
    const { consumption: noConsumption, lastTimeMs: _, ...noCounts } = totals.record;
    const isTime = lastTimeMs === null || typeof lastTimeMs === "number";
    if (!isTime || !isLike(counts, noCounts) || !isLike(consumption, noConsumption))
      return undefined;
    const { tokens, subagents, cacheWarming, ...plain } = counts;
    Object.assign(totals, plain);
    Object.assign(totals.tokens, tokens);
    Object.assign(totals.subagents, { ...subagents, tokens: { ...subagents.tokens } });
    Object.assign(totals.cacheWarming, cacheWarming);
    Object.assign(totals.#consumption, consumption);
    totals.#lastTimeMs = lastTimeMs ?? undefined;
    return totals;
  }

  /** Counts the entry at a position of a tree. */
  addAt(tree: SessionTree, position: number): void {
    const scanned = tree.scannedAt(position);
    if (scanned !== undefined) this.addScanned(scanned);
    else this.add(tree.at(position) as SessionEntry);
  }

  /** Counts one entry. */
  add(entry: SessionEntry): void {
    const known = entry as KnownSessionEntry;
    const previousTimeMs = this.#lastTimeMs;
    const timeMs = Date.parse(known.timestamp);
    this.#lastTimeMs = timeMs;
    if (known.type === "message") {
      const message = normalizeMessage(known.message);
      this.#addMessage(message);
      // Entries of a run come after the work they record; any other entry marks the end of a pause.
      const isOfRun = message.role === "assistant" || message.role === "toolResult";
      if (isOfRun && !isInterrupted(message)) this.#addTime(previousTimeMs, timeMs);
    } else if (known.type === "custom_message") this.totalMessages += 1;
    else if (known.type === "compaction" || known.type === "branch_summary")
      this.#addUsageOf(entry);
    else if (known.type === "custom" && known.customType === USAGE_ENTRY) {
      const data: object = Object(known.data);
      const costBefore = this.cost;
      this.#addUsageOf(data);
      if (Reflect.get(data, "purpose") !== WARMING) return;
      this.cacheWarming.requests += 1;
      this.cacheWarming.costUsd += this.cost - costBefore;
      this.#addTime(previousTimeMs, timeMs);
    }
  }

  /** Counts a message that was scanned but not parsed, like {@link add}. */
  addScanned(message: ScannedMessage): void {
    const { role, timeMs } = message;
    const previousTimeMs = this.#lastTimeMs;
    this.#lastTimeMs = timeMs;
    this.totalMessages += 1;
    if (role === "user") {
      this.userMessages += 1;
      return;
    }
    this.#addTime(previousTimeMs, timeMs);
    if (role === "toolResult") {
      this.toolResults += 1;
      return;
    }
    this.assistantMessages += 1;
    this.toolCalls += message.toolCalls;
    addTokens(this.tokens, message);
    this.cost += message.cost;
    // Updated in place: there may be a hundred thousand messages (row "100 000 entries: spawn").
    const consumption = this.#consumption;
    consumption.inputTokens += message.input;
    consumption.outputTokens += message.output;
    consumption.cacheReadTokens += message.cacheRead;
    consumption.cacheWriteTokens += message.cacheWrite;
    consumption.totalTokens += message.totalTokens;
    consumption.costUsd += message.cost;
    if (role === "assistant") consumption.toolCalls += message.toolCalls;
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
    const isCounted = message.role === "assistant" || message.role === "toolResult";
    if (isCounted) this.#addTokens(message.usage);
    this.#consume(usedByMessage(message));
  }

  #addUsageOf(entry: object): void {
    const used: unknown = Reflect.get(entry, "usage");
    if (!usage.fits(used)) return;
    this.#addTokens(used as Usage);
    this.#consume(consumptionOf(used as Usage));
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
    if (used !== undefined) Object.assign(this.#consumption, plus(this.#consumption, used));
  }

  #addTime(fromMs: number | undefined, toMs: number): void {
    const passedMs = toMs - (fromMs ?? toMs);
    if (passedMs > 0) this.runTimeMs += passedMs;
  }
}

/** Whether a value has exactly the same numeric members as another one. */
function isLike(value: unknown, other: object): boolean {
  if (!isJsonObject(value)) return false;
  const members = Object.entries(other);
  return (
    Object.keys(value).length === members.length &&
    members.every(([name, member]) =>
      typeof member === "object" ? isLike(value[name], member) : Number.isFinite(value[name]),
    )
  );
}

/** Such results were added when the session was continued, possibly long after the call had ended with its host. */
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
