import type { LlmMessage, Model, UserContent } from "@tau-agent/rpc-protocol/messages";
import type { Context, ToolDefinition } from "../provider.ts";
import { jsonText } from "./json-text.ts";
import { Memo } from "./memo.ts";

/** ASCII characters per token, a conservative value for both prose and code. */
const charactersPerToken = 3.5;
const imageTokens = 1200;
/** If the estimate is too low, the vendor refuses the request; if it is too high, little is lost. */
const safety = 1.2;
/** Tokens that vendors add themselves, most of them to explain tools. */
const overhead = 500;
/** If a vendor's count differs by a larger factor, the conversation was cut since. */
const mostPlausible = 2;
/** The share of the window kept free: each vendor counts roles, ids and framing differently (decision 76). */
const reservedShare = 0.02;
const reservedPerItem = 8;

/** Estimates how much of the window a request uses; caches the counts of messages. */
export class InputEstimate {
  /** Not a `WeakMap` of messages, which is slower than counting them (row "100 000 entries: first request"). */
  readonly #counts = new Memo();
  /** The part before the messages. */
  #start: Pick<Context, "systemPrompt" | "tools"> & { tokens: number } = { tokens: 0 };

  /**
   * The vendor's count at the model's last reply plus an estimate for the rest, or an estimate of everything.
   * Adds a reserve, at most half of the remaining window, for what only the vendor can count.
   */
  of(model: Pick<Model, "id" | "provider" | "contextWindow">, context: Context): number {
    const { tokens, uncounted } = this.#count(model, context);
    const { contextWindow } = model;
    const items = uncounted.reduce((sum, message) => sum + 1 + callsOf(message), 0);
    const reserve = Math.ceil(contextWindow * reservedShare) + items * reservedPerItem;
    const left = Math.max(0, contextWindow - tokens);
    return tokens + Math.min(reserve, Math.floor(left / 2));
  }

  /** The tokens, and the number of messages that the vendor has not counted yet. */
  #count(
    { id, provider }: Pick<Model, "id" | "provider">,
    { systemPrompt, tools, messages }: Context,
  ): { tokens: number; uncounted: readonly LlmMessage[] } {
    if (systemPrompt !== this.#start.systemPrompt || tools !== this.#start.tools) {
      this.#start = { systemPrompt, tools, tokens: startTokens(systemPrompt, tools) };
    }
    const counts = this.#counts.fold<number[]>(messages, {
      rules: [],
      start: () => [],
      step: (known, message) => known.push(messageTokens(message)),
    });
    const total = counts.reduce((sum, count) => sum + count, this.#start.tokens);
    const estimateFrom = (at: number): number | undefined => {
      const last = messages[at];
      if (last === undefined) return undefined;
      const after = counts.slice(at + 1).reduce((sum, count) => sum + count, 0);
      const counted = countedTokens(last);
      const isPlausible = counted <= (total - after) * mostPlausible;
      return isPlausible ? counted + Math.ceil(after * safety) : undefined;
    };
    const own = messages.findLastIndex(
      (message) => countedTokens(message) > 0 && isOf(message, id, provider),
    );
    const tokens = estimateFrom(own);
    if (tokens !== undefined) return { tokens, uncounted: messages.slice(own) };
    // Another model's count may be lower.
    const other = messages.findLastIndex((message) => countedTokens(message) > 0);
    return { tokens: Math.max(safe(total), estimateFrom(other) ?? 0), uncounted: messages };
  }
}

function startTokens(systemPrompt = "", tools: readonly ToolDefinition[] = []): number {
  return tools.reduce((sum, tool) => sum + textTokens(jsonText(tool)), textTokens(systemPrompt));
}

function safe(estimate: number): number {
  return Math.ceil(estimate * safety) + overhead;
}

function callsOf(message: LlmMessage): number {
  if (message.role !== "assistant") return 0;
  return message.content.filter(({ type }) => type === "toolCall").length;
}

function isOf(message: LlmMessage, id: string, provider: string): boolean {
  return message.role === "assistant" && message.model === id && message.provider === provider;
}

function countedTokens(message: LlmMessage): number {
  if (message.role !== "assistant") return 0;
  if (message.stopReason === "error" || message.stopReason === "aborted") return 0;
  const { input, output, cacheRead, cacheWrite } = message.usage;
  return input + output + cacheRead + cacheWrite;
}

function messageTokens(message: LlmMessage): number {
  if (message.role !== "assistant") return contentTokens(message.content);
  return message.content.reduce((sum, block) => {
    if (block.type === "text") return sum + textTokens(block.text);
    if (block.type === "toolCall") {
      return sum + textTokens(block.name) + textTokens(jsonText(block.arguments));
    }
    // Signed thinking is sent as its signature; its text may be only a summary.
    return sum + Math.max(textTokens(block.thinking), textTokens(block.thinkingSignature ?? ""));
  }, 0);
}

function contentTokens(content: string | readonly UserContent[]): number {
  if (typeof content === "string") return textTokens(content);
  return content.reduce(
    (sum, block) => sum + (block.type === "text" ? textTokens(block.text) : imageTokens),
    0,
  );
}

/** In other scripts, a character is about one token. */
function textTokens(text: string): number {
  const others = text.match(/[^\0-\x7f]/g)?.length ?? 0;
  return (text.length - others) / charactersPerToken + others;
}
