import type { AssistantContent, Model, StopReason, Usage } from "@tau-agent/rpc-protocol/messages";
import { ProviderError } from "../errors.ts";

/**
 * What is wrong with a reply that ended in order; undefined when nothing is. A reply without text and
 * call says nothing, and another attempt usually does. Some servers cut a conversation that is too
 * long instead of refusing it: then more went in than fits, or nothing came out for want of room. Of a
 * reply that says something, a sum of counts proves nothing: some vendors count cached tokens twice, or
 * add up several passes of theirs.
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
