import type { CacheRetention } from "@tau-agent/ai";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";

/** The values that users and the environment may choose. */
type WantedRetention = CacheRetention | "auto";

/** A short cache expires after this time, a long one after an hour. */
const shortMs = 5 * 60_000;
const longMs = 60 * 60_000;
/** How many of the latest gaps between prompts are examined, and how many of them must justify a long cache. */
const lastGaps = 3;
const fewestGaps = 2;

/**
 * The cache lifetime of a request: that of the environment, or else that of the setting. `auto` means an hour if two of
 * the last three gaps between prompts were longer than a short cache lives and shorter than a long one. A single such
 * gap might not repeat, and the dearer write would be wasted. A cache with a short lifetime can still be read.
 */
export function cacheRetentionOf(
  word: string | undefined,
  setting: WantedRetention,
  messages: readonly AgentMessage[],
): CacheRetention {
  const wanted = isRetention(word) ? word : setting;
  if (wanted !== "auto") return wanted;
  const paying = gapsOf(messages).filter((gap) => gap >= shortMs && gap <= longMs);
  return paying.length >= fewestGaps ? "long" : "short";
}

function isRetention(word: string | undefined): word is WantedRetention {
  return word === "none" || word === "short" || word === "long" || word === "auto";
}

/** The times from the last use of the cache to the next prompt, the latest first. */
function gapsOf(messages: readonly AgentMessage[]): number[] {
  const gaps: number[] = [];
  let prompt: number | undefined;
  for (let at = messages.length - 1; at >= 0 && gaps.length < lastGaps; at--) {
    const message = messages[at];
    if (message?.role === "user") prompt = message.timestamp;
    // Messages during a run follow tool results.
    else if (message?.role === "toolResult") prompt = undefined;
    else if (message?.role === "assistant") {
      if (prompt !== undefined) gaps.push(prompt - message.timestamp);
      prompt = undefined;
    }
  }
  return gaps;
}
