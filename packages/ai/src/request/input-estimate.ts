import type { LlmMessage, UserContent } from "@tau-agent/rpc-protocol/messages";
import type { Context, ToolDefinition } from "../provider.ts";
import { jsonText } from "./json-text.ts";
import { Memo } from "./memo.ts";

/** ASCII characters per token, on the safe side for prose and code alike. */
const charactersPerToken = 3.5;
const imageTokens = 1200;
/** An estimate that is too low makes a vendor refuse the request, one that is too high costs little. */
const safety = 1.2;
/** What vendors add of their own, most of it to explain tools. */
const overhead = 500;
/** A vendor's count that is further off than this was made of a conversation since cut. */
const mostPlausible = 2;

/** Estimates how many tokens a request takes; keeps what it counted of messages. */
export class InputEstimate {
  readonly #tools = new WeakMap<ToolDefinition, number>();
  /** Not a `WeakMap` of messages, which takes longer than to count them (row "100 000 entries: first request"). */
  readonly #counts = new Memo();
  #system = { text: "", tokens: 0 };

  /** What the vendor counted at the last reply and an estimate of the rest, or an estimate of all. */
  of({ systemPrompt = "", tools = [], messages }: Context): number {
    if (systemPrompt !== this.#system.text) {
      this.#system = { text: systemPrompt, tokens: textTokens(systemPrompt) };
    }
    const fixed = tools.reduce((sum, tool) => sum + this.#countTool(tool), this.#system.tokens);
    const counts = this.#counts.fold<number[]>(messages, {
      rules: [],
      start: () => [],
      step: (known, message) => known.push(messageTokens(message)),
    });
    const total = counts.reduce((sum, count) => sum + count, fixed);
    const at = messages.findLastIndex((message) => countedTokens(message) > 0);
    const last = messages[at];
    if (last === undefined) return safe(total);
    const after = counts.slice(at + 1).reduce((sum, count) => sum + count, 0);
    const counted = countedTokens(last);
    const isPlausible = counted <= (total - after) * mostPlausible;
    return isPlausible ? counted + Math.ceil(after * safety) : safe(total);
  }

  #countTool(tool: ToolDefinition): number {
    const known = this.#tools.get(tool) ?? textTokens(jsonText(tool));
    this.#tools.set(tool, known);
    return known;
  }
}

function safe(estimate: number): number {
  return Math.ceil(estimate * safety) + overhead;
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
    // Signed thinking is sent as its signature; its text may be a summary only.
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

/** Of other scripts a character is about a token. */
function textTokens(text: string): number {
  const others = text.match(/[^\0-\x7f]/g)?.length ?? 0;
  return (text.length - others) / charactersPerToken + others;
}
