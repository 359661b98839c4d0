import type { CacheRetention } from "@tau-agent/ai";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";

/** What users and the environment may ask for. */
type WantedRetention = CacheRetention | "auto";

/** A short cache has lapsed after this, and a long one after an hour. */
const shortMs = 5 * 60_000;
const longMs = 60 * 60_000;
/** How many gaps between prompts say what the next one will be, and how many of them must say so. */
const lastGaps = 3;
const fewestGaps = 2;

/**
 * How long the caches of a request are to live: as the environment says, else as the setting does. `auto` is
 * an hour where two of the last three gaps between prompts outlived a short cache, and would not have
 * outlived a long one: after a single gap the dearer write may pay for nothing. What was kept for shorter is
 * read all the same.
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

/** From the last use of the cache to the prompt that followed it, the latest first. */
function gapsOf(messages: readonly AgentMessage[]): number[] {
  const gaps: number[] = [];
  let prompt: number | undefined;
  for (let at = messages.length - 1; at >= 0 && gaps.length < lastGaps; at--) {
    const message = messages[at];
    if (message?.role === "user") prompt = message.timestamp;
    // Messages amid a run follow the results of tools.
    else if (message?.role === "toolResult") prompt = undefined;
    else if (message?.role === "assistant") {
      if (prompt !== undefined) gaps.push(prompt - message.timestamp);
      prompt = undefined;
    }
  }
  return gaps;
}
