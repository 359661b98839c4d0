import type {
  AgentMessage,
  AssistantMessage,
  Usage,
  UserContent,
} from "@tau-agent/rpc-protocol/messages";
import { type ResultView, shownAsLine } from "@tau-agent/sessions/log";
import { textTokens } from "./text-tokens.ts";

/** The approximate tokens of the line that replaces a result. */
export const LINE_TOKENS = 25;

/** The assumed size of an image; vendors charge by size, which is bounded before sending. */
export const IMAGE_TOKENS = 1200;

export function estimateTokens(message: AgentMessage): number {
  switch (message.role) {
    case "user":
    case "custom":
    case "toolResult":
      return contentTokens(message.content);
    case "assistant":
      return assistantTokens(message);
    case "bashExecution":
      return message.excludeFromContext
        ? 0
        : textTokens(message.command) + textTokens(message.output);
    case "branchSummary":
    case "compactionSummary":
      return textTokens(message.summary);
    default:
      return 0;
  }
}

function contentTokens(content: string | readonly UserContent[]): number {
  if (typeof content === "string") return textTokens(content);
  let count = 0;
  for (const block of content)
    count += block.type === "text" ? textTokens(block.text) : IMAGE_TOKENS;
  return count;
}

function assistantTokens(message: AssistantMessage): number {
  let count = 0;
  for (const block of message.content) {
    if (block.type === "text") count += textTokens(block.text);
    else if (block.type === "thinking") count += textTokens(block.thinking);
    else count += textTokens(block.name) + textTokens(JSON.stringify(block.arguments));
  }
  return count;
}

/**
 * How many tokens the conversation takes: the vendor's count at the last reply, plus an estimate of everything since.
 */
export function contextTokens(messages: readonly AgentMessage[], results?: ResultView): number {
  return measure(messages, results).tokens;
}

/**
 * Like {@link contextTokens}, but null until a vendor has counted the current conversation: right
 * after a compaction or a clearing, an estimate would only look like a real count.
 */
export function countedContextTokens(
  messages: readonly AgentMessage[],
  results?: ResultView,
): number | null {
  const { tokens, isCounted } = measure(messages, results);
  return isCounted || messages.length === 0 ? tokens : null;
}

/**
 * A reply from before the latest compaction counted messages that are gone, so it is ignored. Results cleared since a
 * reply are subtracted from its count.
 */
function measure(
  messages: readonly AgentMessage[],
  results: ResultView | undefined,
): { tokens: number; isCounted: boolean } {
  const [first] = messages;
  const sinceMs = first?.role === "compactionSummary" ? first.timestamp : 0;
  let tokens = 0;
  /** The value of {@link tokens} before results were cleared. */
  let whole = 0;
  let saved = 0;
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index];
    if (message === undefined) continue;
    saved += results?.savings.get(message) ?? 0;
    const counted = message.timestamp > sinceMs ? countedTokens(message) : 0;
    if (counted > 0) {
      return { tokens: Math.max(0, whole + counted - saved), isCounted: saved === 0 };
    }
    const line = results && shownAsLine(message, results);
    const size = line === undefined ? estimateTokens(message) : LINE_TOKENS;
    tokens += size;
    whole += line !== undefined && line.sameAs === undefined ? line.tokens : size;
  }
  return { tokens, isCounted: false };
}

function countedTokens(message: AgentMessage): number {
  if (message.role !== "assistant") return 0;
  if (message.stopReason === "error" || message.stopReason === "aborted") return 0;
  return totalOf(message.usage);
}

function totalOf({ totalTokens, input, output, cacheRead, cacheWrite }: Usage): number {
  return totalTokens || input + output + cacheRead + cacheWrite;
}
