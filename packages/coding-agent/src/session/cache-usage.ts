import type { SessionStats } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";

/** The maximum number of turns in the statistics. */
const maxTurns = 50;

type InputTokens = Readonly<Record<"input" | "cacheRead" | "cacheWrite", number>>;

/** The savings by prompt caches; reads only the latest turns. */
export function cacheUsage(
  messages: readonly AgentMessage[],
  total: InputTokens,
): Pick<SessionStats, "cacheUsage"> {
  const turns: NonNullable<SessionStats["cacheUsage"]>["turns"] = [];
  for (let at = messages.length - 1; at >= 0 && turns.length < maxTurns; at--) {
    const message = messages[at];
    if (message?.role !== "assistant") continue;
    const { input, cacheRead, cacheWrite } = message.usage;
    // A reply that failed before the vendor counted tokens has no numbers.
    if (input + cacheRead + cacheWrite === 0) continue;
    const { timestamp } = message;
    turns.push({ timestamp, input, cacheRead, cacheWrite, percent: percentOf(message.usage) });
  }
  if (turns.length === 0) return {};
  return { cacheUsage: { percent: percentOf(total), turns: turns.reverse() } };
}

function percentOf({ input, cacheRead, cacheWrite }: InputTokens): number {
  const all = input + cacheRead + cacheWrite;
  return all === 0 ? 0 : (cacheRead / all) * 100;
}
