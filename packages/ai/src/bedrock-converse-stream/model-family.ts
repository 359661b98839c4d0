import type { Model } from "@tau-agent/rpc-protocol/messages";
import { thinksAdaptively } from "../anthropic-messages/features.ts";

/**
 * What is known of a model on Bedrock. The id may be that of an inference profile or an ARN, which has
 * the maker's id at its end, or hides it: then the name that the user gave it says what it is.
 */
export interface ModelFamily {
  readonly isClaude: boolean;
  readonly isNova: boolean;
  /** Claude that decides itself how much to think. */
  readonly isAdaptive: boolean;
  /** Takes cache points that live an hour. */
  readonly cachesLong: boolean;
}

const longCache = /claude-(?:opus|sonnet|haiku)-(?:4[.-][5-9]|[5-9])|claude-(?:fable|mythos)/;

export function familyOf({ id, name }: Pick<Model, "id" | "name">): ModelFamily {
  const text = `${id} ${name.replaceAll(" ", "-")}`.toLowerCase();
  return {
    isClaude: text.includes("claude"),
    isNova: text.includes("nova"),
    isAdaptive: thinksAdaptively(text),
    cachesLong: longCache.test(text),
  };
}
