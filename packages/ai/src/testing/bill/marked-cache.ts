import type { Charge } from "./charge.ts";
import { cumulativeTokens, type Prompt } from "./prompt.ts";

export interface MarkedCacheRules {
  /** The minimum number of tokens for caching. */
  readonly minimum: number;
  /** How many blocks before each mark are checked for an earlier one, including the marked block. */
  readonly lookback: number;
}

interface Entry {
  readonly lifetime: number;
  expires: number;
}

const hour = 3_600_000;

/** A cache that stores prompts up to marks, and finds them at marks and a few blocks before. */
export class MarkedCache {
  readonly #entries = new Map<string, Entry>();

  /** The charge for a prompt; stores the prompt up to its marks. */
  charge(prompt: Prompt, ids: readonly number[], rules: MarkedCacheRules, now: number): Charge {
    const tokens = cumulativeTokens(prompt);
    const total = tokens.at(-1) ?? 0;
    const marks = prompt.parts.flatMap(({ mark }, at) =>
      mark !== undefined && (tokens[at] ?? 0) >= rules.minimum ? [{ at, lifetime: mark }] : [],
    );
    const keyOf = (at: number) => `${prompt.key}\n${ids[at]}`;
    const isLive = (at: number) => (this.#entries.get(keyOf(at))?.expires ?? 0) > now;
    const found = marks.map(({ at }) => lookBack(prompt, at, rules.lookback, isLive));
    const readAt = Math.max(-1, ...found);
    this.#refresh(readAt, keyOf, now);
    for (const { at, lifetime } of marks) {
      const known = this.#entries.get(keyOf(at));
      const longest = Math.max(lifetime, known && known.expires > now ? known.lifetime : 0);
      this.#entries.set(keyOf(at), { lifetime: longest, expires: now + longest });
    }
    const upTo = (at: number) => (at < 0 ? 0 : (tokens[at] ?? 0));
    const lastLong = marks.findLast(({ lifetime }) => lifetime >= hour)?.at ?? -1;
    const read = upTo(readAt);
    const written = Math.max(read, upTo(marks.at(-1)?.at ?? -1));
    const writtenLong = Math.max(read, upTo(lastLong));
    return {
      uncached: total - written,
      cacheRead: read,
      cacheWrite: written - read,
      cacheWrite1h: writtenLong - read,
    };
  }

  /** Restarts the lifetime of what is read, including shorter prefixes of it. */
  #refresh(readAt: number, keyOf: (at: number) => string, now: number): void {
    for (let at = 0; at <= readAt; at++) {
      const entry = this.#entries.get(keyOf(at));
      if (entry !== undefined && entry.expires > now) entry.expires = now + entry.lifetime;
    }
  }
}

/** The end of the longest cached prefix within reach of a mark; -1 if there is none. */
function lookBack(
  { parts }: Prompt,
  mark: number,
  lookback: number,
  isLive: (at: number) => boolean,
): number {
  let looked = 0;
  for (let at = mark; at >= 0 && looked < lookback; at--) {
    if (parts[at]?.isSetting) continue;
    if (isLive(at)) return at;
    looked++;
  }
  return -1;
}
