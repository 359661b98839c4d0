import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import { thinkingBudget } from "../models/thinking.ts";
import type { StreamOptions } from "../provider.ts";
import { fittingBudget, outputLimit } from "../request/output-limit.ts";
import { featuresOf } from "./features.ts";
import type { AnthropicRequest, Effort } from "./wire-types.ts";

/** The members of a request that limit how much the model may think and write. */
export interface Limits {
  readonly request: Pick<AnthropicRequest, "max_tokens" | "thinking">;
  readonly effort: Effort | undefined;
  /** The vendor refuses a temperature together with thinking. */
  readonly takesTemperature: boolean;
}

/** Expresses the requested level in the form that the model accepts. */
export function limitsOf(model: Model, options: StreamOptions): Limits {
  const limits = limitsOfReply(model, options);
  return options.renewsCache === true ? withoutReply(limits) : limits;
}

/**
 * Limits for a request that only renews the cache. The cache depends on the thinking settings, and the vendor
 * requires an output limit above the thinking budget.
 */
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
      // Earlier thinking that no longer fits is dropped; otherwise, the vendor would refuse the request.
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
  // A model too small for a budget above the vendor's minimum answers without thinking.
  if (budget_tokens === undefined)
    return { request: { max_tokens }, effort: undefined, takesTemperature };
  const thinking = { type: "enabled" as const, budget_tokens };
  return { request: { max_tokens, thinking }, effort: undefined, takesTemperature: false };
}

/** Claude omits thinking from the reply unless a summary is requested, on every server. */
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
  // A model that always thinks cannot turn thinking off.
  if (level === "off") return "low";
  return efforts[model.thinkingLevelMap?.[level] ?? level] ?? "high";
}
