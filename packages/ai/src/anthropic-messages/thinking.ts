import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import { thinkingBudget } from "../models/thinking.ts";
import type { StreamOptions } from "../provider.ts";
import { fittingBudget, outputLimit } from "../request/output-limit.ts";
import { featuresOf } from "./features.ts";
import type { AnthropicRequest, Effort } from "./wire-types.ts";

/** The members of a request that say how much the model may think and write. */
export interface Limits {
  readonly request: Pick<AnthropicRequest, "max_tokens" | "thinking">;
  readonly effort: Effort | undefined;
  /** Refused beside thinking. */
  readonly takesTemperature: boolean;
}

/** Says the wanted level in the way the model takes it. */
export function limitsOf(model: Model, options: StreamOptions): Limits {
  const limits = limitsOfReply(model, options);
  return options.renewsCache === true ? withoutReply(limits) : limits;
}

/** The cache depends on how the model may think, and the vendor wants room for more than that. */
function withoutReply({ request, ...rest }: Limits): Limits {
  const { thinking } = request;
  const budget = thinking?.type === "enabled" ? thinking.budget_tokens : 0;
  return { ...rest, request: { ...request, max_tokens: budget + 1 } };
}

function limitsOfReply(model: Model, options: StreamOptions): Limits {
  const level = model.reasoning ? (options.thinkingLevel ?? "off") : "off";
  const max_tokens = outputLimit(model, options);
  const takesTemperature = model.compat?.supportsTemperature !== false;
  const { bindsThinking } = featuresOf(model);
  if (level === "off" && !bindsThinking) {
    const canDisable = model.reasoning && model.thinkingLevelMap?.off !== null;
    const request = { max_tokens, ...(canDisable && { thinking: { type: "disabled" as const } }) };
    return { request, effort: undefined, takesTemperature };
  }
  if (model.compat?.forceAdaptiveThinking === true || bindsThinking) {
    const thinking = {
      type: "adaptive" as const,
      ...displayOf(model),
      // Earlier thinking that no longer fits is dropped, where the request would otherwise be refused.
      ...(bindsThinking && {
        block_binding: { prefix_mismatch_behavior: "drop_block" as const },
      }),
    };
    return {
      request: { max_tokens, thinking },
      effort: effortOf(model, level),
      takesTemperature: false,
    };
  }
  const budget_tokens = fittingBudget(thinkingBudget(level, options.thinkingBudgets), max_tokens);
  // A model too small for any budget above the vendor's minimum answers without thinking.
  if (budget_tokens === undefined)
    return { request: { max_tokens }, effort: undefined, takesTemperature };
  const thinking = { type: "enabled" as const, budget_tokens };
  return { request: { max_tokens, thinking }, effort: undefined, takesTemperature: false };
}

/** Claude leaves thinking out of the reply unless asked for a summary, on whichever server it runs. */
function displayOf({ id, provider, compat }: Model): { display?: "summarized" } {
  const isClaude = provider === "anthropic" || /claude/i.test(id);
  const takesDisplay = compat?.supportsThinkingDisplay ?? isClaude;
  return takesDisplay === true ? { display: "summarized" } : {};
}

const efforts: Readonly<Record<string, Effort>> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max",
};

function effortOf(model: Model, level: ThinkingLevel): Effort {
  // A model that always thinks has no word for off.
  if (level === "off") return "low";
  return efforts[model.thinkingLevelMap?.[level] ?? level] ?? "high";
}
