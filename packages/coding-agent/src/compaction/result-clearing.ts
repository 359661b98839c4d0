import { type CacheRetention, cacheLifetimeMs } from "@tau-agent/ai";
import type { AgentMessage, Model, ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { type Conversation, hasClearedResults, resultKey } from "@tau-agent/sessions/log";
import type { SettingsStore } from "@tau-agent/system";
import { clearedLine } from "../user-input/cleared-line.ts";
import { ClearableResults, type ShownAs } from "./clearable-results.ts";
import { contextTokens, estimateTokens, LINE_TOKENS } from "./estimate.ts";

/** From this share of the context on, and so many tokens, clearing may pay although it rewrites the prefix. */
const worthwhile = { share: 0.4, tokens: 20_000 };
/** Less is not worth the tool that brings results back. */
const MIN_TOKENS = 100;
/** The tool that brings results back. */
const READ_ENTRY = "read_entry";

export interface ResultClearingOptions {
  readonly settings: Pick<SettingsStore, "get">;
  readonly conversation: () => Pick<Conversation, "log" | "messages" | "results" | "clear">;
  readonly model: () => Model | undefined;
  /** How long requests ask caches to live. */
  readonly retention: (model: Model) => Promise<CacheRetention>;
  /** When this process last used the cache; 0 if it has not. */
  readonly cacheUsedAt: () => number;
  readonly resolvePath: (written: string) => string;
  /** The tools on demand, of which this needs one. */
  readonly tools: { need(name: string, isNeeded: boolean): void };
}

/**
 * Replaces results that the model needs no longer by a line, in requests only: together with something
 * that rewrites the prefix of requests anyway, or when so much can go that it pays.
 */
export class ResultClearing {
  readonly #options: ResultClearingOptions;
  #results: ClearableResults | undefined;
  /** The list that {@link #results} was made of; another one replaces it when messages are dropped. */
  #list: readonly AgentMessage[] = [];
  /** The message that began the current prompt. */
  #promptStart: AgentMessage | undefined;

  constructor(options: ResultClearingOptions) {
    this.#options = options;
  }

  /** A run begins; one without input continues the prompt before it. */
  beginRun([first]: readonly AgentMessage[]): void {
    this.#promptStart = first ?? this.#promptStart;
  }

  /** Declares the tool that brings results back if the session has cleared any. */
  adoptLog({ tree }: Conversation["log"]): void {
    this.#promptStart = undefined;
    this.#options.tools.need(READ_ENTRY, hasClearedResults(tree));
  }

  /**
   * What requests show instead of a result; undefined for most.
   *
   * @param time - of the request, in ms since the epoch; default now
   */
  lineOf(result: ToolResultMessage, time = Infinity): string | undefined {
    const cleared = this.#options.conversation().results.cleared.get(resultKey(result));
    return cleared !== undefined && cleared.since <= time ? clearedLine(cleared) : undefined;
  }

  /** A result was written: one that the model has just as well from the same call becomes a line. */
  noteResult(result: ToolResultMessage): void {
    if (!this.#isOn) return;
    const conversation = this.#options.conversation();
    const earlier = this.#current().sameAs(result);
    const tokens = earlier === undefined ? 0 : estimateTokens(result);
    if (earlier === undefined || tokens <= 2 * LINE_TOKENS) return;
    const { entryIds } = conversation.results;
    const [entryId, sameAs] = [entryIds.get(result), entryIds.get(earlier)];
    if (entryId === undefined || sameAs === undefined) return;
    conversation.clear(new Map([[result, { entryId, tokens, sameAs }]]));
  }

  /** Clears before a request if it pays; the request must wait until that is stored. */
  async runWhenDue(): Promise<void> {
    if (!this.#isOn) return;
    const results = this.#current();
    if (results.tokens < MIN_TOKENS) return;
    const { messages, results: view, log } = this.#options.conversation();
    const { tokens } = results;
    const isMuch =
      tokens >= worthwhile.tokens && tokens >= worthwhile.share * contextTokens(messages, view);
    if (isMuch && this.#pays(results)) this.#clear(results.before(Infinity));
    else if (await this.#hasLapsed()) this.#clearBeforePrompt();
    await log.stored();
  }

  /**
   * Whether what clearing costs, because the rest is written to the cache again, comes back in the requests
   * that can be expected: an eighth of those that the session has made, and a few in any case.
   */
  #pays({ tokens, rewritten }: ClearableResults): boolean {
    const { input = 0, cacheRead = 0, cacheWrite = 0 } = this.#options.model()?.cost ?? {};
    const { assistantMessages } = this.#options.conversation().log.totals;
    const saved = (cacheRead || input / 10) * tokens * Math.max(3, assistantMessages / 8);
    return ((cacheWrite || input) - (cacheRead || input / 10)) * rewritten <= saved;
  }

  /** Clears what it may because the prefix was rewritten anyway. */
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
      // What an extension put into the conversation has no entry to name.
      return entryId === undefined ? [] : [[message, { entryId, tokens }] as const];
    });
    const saved = cleared.reduce((sum, [, { tokens }]) => sum + tokens - LINE_TOKENS, 0);
    if (saved < MIN_TOKENS) return;
    conversation.clear(new Map(cleared));
    this.#results = undefined;
    this.#options.tools.need(READ_ENTRY, true);
  }

  /** Whether the vendor has forgotten the last request. */
  async #hasLapsed(): Promise<boolean> {
    const { conversation, retention, cacheUsedAt } = this.#options;
    const model = this.#options.model();
    const last = conversation().messages.findLast(({ role }) => role === "assistant");
    if (model === undefined || last === undefined) return false;
    const lifetime = cacheLifetimeMs(model, await retention(model));
    const usedAt = Math.max(last.timestamp, cacheUsedAt());
    return lifetime !== undefined && Date.now() - usedAt > lifetime;
  }

  /** Where the current prompt begins; nothing after it is cleared without need. */
  #promptAt(results: ClearableResults): number {
    const start = this.#promptStart;
    if (start === undefined) return Math.max(0, results.lastUserAt);
    // An extension may have replaced it. Once it is summarised, all that is left belongs to the prompt.
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
    if (message.role !== "toolResult") return "whole";
    const cleared = this.#options.conversation().results.cleared.get(resultKey(message));
    if (cleared === undefined) return "whole";
    return cleared.sameAs === undefined ? "cleared" : "unchanged";
  }
}
