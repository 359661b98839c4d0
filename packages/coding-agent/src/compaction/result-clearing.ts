import { type CacheRetention, cacheLifetimeMs } from "@tau-agent/ai";
import type { AgentMessage, Model, ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { type Conversation, hasClearedResults, shownAsLine } from "@tau-agent/sessions/log";
import type { SettingsStore } from "@tau-agent/system";
import { clearedLine } from "../user-input/cleared-line.ts";
import { ClearableResults, type ShownAs } from "./clearable-results.ts";
import { contextTokens, estimateTokens, LINE_TOKENS } from "./estimate.ts";

/** From this share of the context and this many tokens on, clearing may pay off even though it rewrites the prefix. */
const worthwhile = { share: 0.4, tokens: 20_000 };
/** Smaller savings do not justify declaring the tool that retrieves results. */
const MIN_TOKENS = 100;
/** The tool that retrieves cleared results. */
const READ_ENTRY = "read_entry";

/** The last request that used the prompt cache. */
export interface CacheUse {
  readonly model: Model;
  /** When the request began, in ms since the epoch. */
  readonly at: number;
  /** How long the vendor keeps what it read, in ms; undefined if that is not known. */
  readonly lifetimeMs: number | undefined;
}

export interface ResultClearingOptions {
  readonly settings: Pick<SettingsStore, "get">;
  readonly conversation: () => Pick<Conversation, "log" | "messages" | "results" | "clear">;
  readonly model: () => Model | undefined;
  /** The cache lifetime that the next request to a model will ask for. */
  readonly retention: (model: Model) => Promise<CacheRetention>;
  /** When this process last used the prompt cache; undefined if never. */
  readonly lastUse: () => CacheUse | undefined;
  readonly resolvePath: (written: string) => string;
  /** The tools on demand, one of which retrieves results. */
  readonly tools: { need(name: string, isNeeded: boolean): void };
}

/**
 * Replaces results that the model no longer needs with a line, in requests only. It does so when something else
 * rewrites the prefix anyway, or when the savings pay for the rewrite.
 */
export class ResultClearing {
  readonly #options: ResultClearingOptions;
  #results: ClearableResults | undefined;
  /** The list from which {@link #results} was made. It is replaced when messages are dropped. */
  #list: readonly AgentMessage[] = [];
  /** The message that began the current prompt. */
  #promptStart: AgentMessage | undefined;

  constructor(options: ResultClearingOptions) {
    this.#options = options;
  }

  /** Notes the start of a run; a run without input continues the previous prompt. */
  beginRun([first]: readonly AgentMessage[]): void {
    this.#promptStart = first ?? this.#promptStart;
  }

  /** Declares the tool that retrieves results if the session has cleared any. */
  adoptLog({ tree }: Conversation["log"]): void {
    this.#promptStart = undefined;
    this.#options.tools.need(READ_ENTRY, hasClearedResults(tree));
  }

  /**
   * Finds the line that a request shows instead of a result; undefined if the result is shown.
   *
   * @param time - the time of the request in ms since the epoch; default now
   */
  linesAt(time = Infinity): (result: ToolResultMessage) => string | undefined {
    const { results } = this.#options.conversation();
    return (result) => {
      const cleared = shownAsLine(result, results);
      return cleared !== undefined && cleared.since <= time ? clearedLine(cleared) : undefined;
    };
  }

  /** Notes a new result. If the model already sees the same result of the same call, a line replaces the new one. */
  noteResult(result: ToolResultMessage): void {
    if (!this.#isOn) return;
    const tokens = estimateTokens(result);
    if (tokens <= 2 * LINE_TOKENS) return;
    const earlier = this.#current().sameAs(result);
    if (earlier === undefined) return;
    const conversation = this.#options.conversation();
    const { entryIds } = conversation.results;
    const [entryId, sameAs] = [entryIds.get(result), entryIds.get(earlier)];
    if (entryId === undefined || sameAs === undefined) return;
    conversation.clear(new Map([[result, { entryId, tokens, sameAs }]]));
  }

  /** Clears before a request if that pays off; the request must wait until the change is stored. */
  async runWhenDue(): Promise<void> {
    if (!this.#isOn) return;
    const { messages, results: view, log } = this.#options.conversation();
    const whole = contextTokens(messages, view);
    // Rules out most requests, in less time than it takes to find what could be cleared.
    if (whole < worthwhile.tokens && !(await this.#hasLapsed())) return;
    const results = this.#current();
    const { tokens } = results;
    if (tokens < MIN_TOKENS) return;
    const isMuch = tokens >= worthwhile.tokens && tokens >= worthwhile.share * whole;
    if (isMuch && this.#pays(results)) this.#clear(results.before(Infinity));
    else if (await this.#hasLapsed()) this.#clearBeforePrompt();
    await log.stored();
  }

  /**
   * Whether the expected requests save more than the rewrite of the cache costs. The estimate is an eighth of the
   * requests so far, but at least three.
   */
  #pays({ tokens, rewritten }: ClearableResults): boolean {
    const { input = 0, cacheRead = 0, cacheWrite = 0 } = this.#options.model()?.cost ?? {};
    const { assistantMessages } = this.#options.conversation().log.totals;
    const saved = (cacheRead || input / 10) * tokens * Math.max(3, assistantMessages / 8);
    return ((cacheWrite || input) - (cacheRead || input / 10)) * rewritten <= saved;
  }

  /** Clears what it may, because the prefix is being rewritten anyway. */
  run(): void {
    if (this.#isOn) this.#clearBeforePrompt();
  }

  get #isOn(): boolean {
    return this.#options.settings.get("compaction.clearToolResults") === "auto";
  }

  #clearBeforePrompt(): void {
    const results = this.#current();
    this.#clear(results.before(this.#promptAt(results)));
  }

  #clear(found: ReadonlyMap<ToolResultMessage, number>): void {
    const conversation = this.#options.conversation();
    const { entryIds } = conversation.results;
    const cleared = [...found].flatMap(([message, tokens]) => {
      const entryId = entryIds.get(message);
      // A message that an extension inserted has no entry to refer to.
      return entryId === undefined ? [] : [[message, { entryId, tokens }] as const];
    });
    const saved = cleared.reduce((sum, [, { tokens }]) => sum + tokens - LINE_TOKENS, 0);
    if (saved < MIN_TOKENS) return;
    conversation.clear(new Map(cleared));
    this.#results = undefined;
    this.#options.tools.need(READ_ENTRY, true);
  }

  /** Whether the vendor's cache of the last request has expired. */
  async #hasLapsed(): Promise<boolean> {
    const { conversation, retention, lastUse } = this.#options;
    const model = this.#options.model();
    const last = conversation().messages.findLast(({ role }) => role === "assistant");
    if (model === undefined || last === undefined) return false;
    const use = lastUse();
    const isSame = use?.model.id === model.id && use.model.provider === model.provider;
    const lifetimeMs = isSame ? use.lifetimeMs : cacheLifetimeMs(model, await retention(model));
    const usedAt = Math.max(last.timestamp, use?.at ?? 0);
    return lifetimeMs !== undefined && Date.now() - usedAt > lifetimeMs;
  }

  /** The index where the current prompt begins; later results are cleared only if that pays off. */
  #promptAt(results: ClearableResults): number {
    const start = this.#promptStart;
    if (start === undefined) return Math.max(0, results.lastUserAt);
    // -1 if an extension replaced the message, or it was summarised: then everything belongs to the prompt.
    return this.#list.findLastIndex(
      (message) => message.role === start.role && message.timestamp === start.timestamp,
    );
  }

  #current(): ClearableResults {
    const { conversation, resolvePath } = this.#options;
    const { messages } = conversation();
    if (this.#results === undefined || this.#list !== messages) {
      this.#results = new ClearableResults({ resolvePath, sizeOf: estimateTokens });
      this.#list = messages;
    }
    for (const message of messages.slice(this.#results.length)) {
      this.#results.add(message, this.#shownAs(message));
    }
    return this.#results;
  }

  #shownAs(message: AgentMessage): ShownAs {
    const cleared = shownAsLine(message, this.#options.conversation().results);
    if (cleared === undefined) return "whole";
    return cleared.sameAs === undefined ? "cleared" : "unchanged";
  }
}
