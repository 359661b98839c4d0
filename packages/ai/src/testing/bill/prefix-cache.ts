import type { Charge } from "./charge.ts";
import { cumulativeTokens, type Prompt } from "./prompt.ts";
import { wholeTokens } from "./tokens.ts";

export interface PrefixCacheRules {
  /** The minimum number of tokens for caching. */
  readonly minimum: number;
  /** The number of tokens read is a multiple of this. */
  readonly step: number;
  /** How long a prompt is kept after its last use, in ms. */
  readonly lifetime: number;
}

interface Kept {
  readonly prompt: Prompt;
  readonly ids: readonly number[];
  readonly lifetime: number;
  expires: number;
}

/** A cache that stores each whole prompt for others with the same beginning. Writing is free. */
export class PrefixCache {
  readonly #kept: Kept[] = [];

  /** The charge for a prompt; stores the prompt in the cache. */
  charge(prompt: Prompt, ids: readonly number[], rules: PrefixCacheRules, now: number): Charge {
    const tokens = cumulativeTokens(prompt);
    let read = 0;
    let source: Kept | undefined;
    for (const kept of this.#kept) {
      if (kept.prompt.key !== prompt.key || kept.expires <= now) continue;
      const shared = sharedTokens({ prompt, ids, tokens }, kept);
      if (shared > read) [read, source] = [shared, kept];
    }
    read = read < rules.minimum ? 0 : read - ((read - rules.minimum) % rules.step);
    if (source !== undefined && read > 0) source.expires = now + source.lifetime;
    const lifetime = prompt.retention ?? rules.lifetime;
    this.#kept.push({ prompt, ids, lifetime, expires: now + lifetime });
    return { uncached: (tokens.at(-1) ?? 0) - read, cacheRead: read, cacheWrite: 0 };
  }
}

function sharedTokens(
  { prompt, ids, tokens }: Pick<Kept, "prompt" | "ids"> & { readonly tokens: readonly number[] },
  kept: Kept,
): number {
  let at = 0;
  while (at < ids.length && ids[at] === kept.ids[at]) at++;
  const before = tokens[at - 1] ?? 0;
  const [own, other] = [prompt.parts[at], kept.prompt.parts[at]];
  if (own === undefined || other === undefined || own.isSetting || own.name !== other.name) {
    return before;
  }
  let same = 0;
  while (same < own.content.length && own.content[same] === other.content[same]) same++;
  return before + Math.min(wholeTokens(same), own.tokens);
}
