import type { Model } from "@tau-agent/rpc-protocol/messages";
import { computeCost } from "../../models/cost.ts";
import type { TokenCounts } from "../../provider.ts";
import type { Charge } from "./charge.ts";
import type { Prompt, PromptPart } from "./prompt.ts";

/** One request on a bill. A token counts as four characters; pictures are counted by the vendor's rule. */
export interface BilledRequest {
  /** Input at the full price. */
  readonly uncached: number;
  readonly cacheWrite: number;
  readonly cacheRead: number;
  readonly output: number;
  /** The cost at the rates of the catalogue. */
  readonly costUsd: number;
  /**
   * The first block, or setting that affects the cache, that differs from the earlier request of the same
   * conversation with the longest common prefix; undefined if this request only extends it.
   */
  readonly firstChangedBlock?: string | undefined;
}

/** The charges of a vendor. */
export interface Bill {
  readonly requests: readonly BilledRequest[];
  readonly costUsd: number;
}

interface Seen {
  readonly prompt: Prompt;
  readonly ids: readonly number[];
}

/** Adds up the costs of requests. */
export class Ledger {
  readonly #requests: BilledRequest[] = [];
  readonly #seen: Seen[] = [];

  get bill(): Bill {
    const costUsd = this.#requests.reduce((sum, request) => sum + request.costUsd, 0);
    return { requests: [...this.#requests], costUsd };
  }

  /** Adds a request; returns the usage for the reply. */
  add(seen: Seen, charge: Charge, output: number, { cost }: Model): TokenCounts {
    const { uncached: input, cacheRead, cacheWrite, cacheWrite1h = 0 } = charge;
    const usage = {
      ...{ input, output, cacheRead, cacheWrite },
      ...(cacheWrite1h > 0 && { cacheWrite1h }),
    };
    const firstChangedBlock = this.#firstChanged(seen);
    this.#requests.push({
      ...{ uncached: input, cacheWrite, cacheRead, output },
      costUsd: computeCost(cost, usage).total,
      ...(firstChangedBlock !== undefined && { firstChangedBlock }),
    });
    this.#seen.push(seen);
    return usage;
  }

  #firstChanged({ prompt, ids }: Seen): string | undefined {
    let nearest: { seen: Seen; shared: number } | undefined;
    for (const seen of this.#seen) {
      if (!areOneConversation(prompt, seen.prompt)) continue;
      const shared = sharedParts(ids, seen.ids);
      if (nearest === undefined || shared >= nearest.shared) nearest = { seen, shared };
    }
    if (nearest === undefined) return undefined;
    const { seen, shared } = nearest;
    return shared === seen.ids.length ? undefined : prompt.parts[shared]?.name;
  }
}

/** Shorter blocks, in tokens, may be equal in unrelated conversations. */
const distinctive = 32;

/**
 * Whether two requests belong to one conversation: they have the same key, begin with the same message, or
 * share a longer block of it, as after a compaction.
 */
function areOneConversation(one: Prompt, other: Prompt): boolean {
  if (one.key !== "" && one.key === other.key) return true;
  const [own, others] = [messagesOf(one), messagesOf(other)];
  if (own[0]?.content === others[0]?.content) return true;
  const known = new Set(others.filter(isDistinctive).map(({ content }) => content));
  return own.some((part) => isDistinctive(part) && known.has(part.content));
}

function messagesOf({ parts, firstMessage }: Prompt): readonly PromptPart[] {
  return parts.slice(firstMessage);
}

function isDistinctive({ tokens, isSetting }: PromptPart): boolean {
  return tokens >= distinctive && isSetting !== true;
}

function sharedParts(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((id, index) => id !== other[index]);
  return at === -1 ? one.length : at;
}
