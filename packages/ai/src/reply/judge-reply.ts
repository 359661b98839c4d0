import type { AssistantContent, Model, StopReason, Usage } from "@tau-agent/rpc-protocol/messages";
import { ProviderError } from "../errors.ts";

/**
 * The problem with a reply that ended normally; undefined if there is none. A reply without text and calls is empty,
 * and a retry usually helps. Some servers truncate a conversation that is too long instead of refusing it: then the
 * input exceeds the window, or there was no room for output. If a reply has content, the sum of its counts proves
 * nothing, because some vendors count cached tokens twice or add up several internal passes.
 */
export function judgeReply(
  reason: StopReason,
  content: readonly AssistantContent[],
  { input, cacheRead, cacheWrite }: Usage,
  { contextWindow }: Pick<Model, "contextWindow">,
): ProviderError | undefined {
  const isGood = content.some(saysSomething);
  const sent = isGood ? input : input + cacheRead + cacheWrite;
  if (reason === "stop" && contextWindow > 0 && sent > contextWindow) {
    return overflow(`The request takes ${sent} tokens, the context window has ${contextWindow}`);
  }
  if (reason === "length") {
    const hasOutput = content.some((block) => block.type === "thinking" || saysSomething(block));
    return hasOutput ? undefined : overflow("The context window leaves no room for a reply");
  }
  if (isGood) return undefined;
  return new ProviderError({ code: "overloaded", message: "The model sent an empty reply" });
}

function saysSomething(block: AssistantContent): boolean {
  return block.type === "toolCall" || (block.type === "text" && block.text.trim() !== "");
}

function overflow(message: string): ProviderError {
  return new ProviderError({ code: "context_overflow", message });
}
