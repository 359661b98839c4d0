import type { Model } from "@tau-agent/rpc-protocol/messages";
import { thinksAdaptively } from "../anthropic-messages/features.ts";

/**
 * What is known about a model on Bedrock. Its id may be an inference profile or an ARN, which ends with the
 * vendor's id or hides it. In the latter case, the name given by the user identifies the model.
 */
export interface ModelFamily {
  readonly isClaude: boolean;
  readonly isNova: boolean;
  /** Whether the model is a Claude that decides itself how much to think. */
  readonly isAdaptive: boolean;
  /** Whether the model accepts cache points for one hour. */
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
