import type { InferenceConfiguration, OutputConfig } from "@aws-sdk/client-bedrock-runtime";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import { limitsOf as claudeLimitsOf } from "../anthropic-messages/thinking.ts";
import type { StreamOptions } from "../provider.ts";
import { outputLimit } from "../request/output-limit.ts";
import { familyOf } from "./model-family.ts";

/** The members of a request that limit how much the model may think and write. */
export interface Limits {
  readonly inferenceConfig: InferenceConfiguration;
  readonly fields: Readonly<Record<string, Json>>;
  readonly outputConfig?: OutputConfig;
}

type Json = string | number | boolean | readonly string[] | { readonly [name: string]: Json };

/** Expresses the requested level in the form that the model's vendor expects. */
export function limitsOf(model: Model, options: StreamOptions, hasTools: boolean): Limits {
  const family = familyOf(model);
  if (family.isClaude) return limitsOfClaude(model, options, hasTools);
  const { temperature, thinkingLevel = "off" } = options;
  const inferenceConfig = {
    maxTokens: outputLimit(model, options),
    ...(temperature !== undefined && { temperature }),
  };
  if (!model.reasoning || thinkingLevel === "off") return { inferenceConfig, fields: {} };
  const effort = model.thinkingLevelMap?.[thinkingLevel] ?? thinkingLevel;
  if (/nova-2/.test(model.id)) return limitsOfNova(inferenceConfig, effort);
  if (/gpt-oss/.test(model.id)) {
    return { inferenceConfig, fields: { reasoning_effort: lowToHigh(effort) } };
  }
  if (/openai\.gpt/.test(model.id)) {
    return {
      inferenceConfig,
      fields: {},
      outputConfig: { effort: effort === "minimal" ? "low" : effort },
    };
  }
  return { inferenceConfig, fields: {} };
}

/** Anthropic's own members, which Converse passes on. */
function limitsOfClaude(model: Model, options: StreamOptions, hasTools: boolean): Limits {
  const { isAdaptive } = familyOf(model);
  const compat = { forceAdaptiveThinking: isAdaptive, ...model.compat };
  const { request, effort, takesTemperature } = claudeLimitsOf({ ...model, compat }, options);
  const { thinking, max_tokens: maxTokens } = request;
  const betas = [
    ...(thinking?.type === "enabled" && hasTools ? ["interleaved-thinking-2025-05-14"] : []),
    ...(thinking !== undefined && "block_binding" in thinking
      ? ["thinking-binding-controls-2026-08-01"]
      : []),
  ];
  const { temperature } = options;
  return {
    inferenceConfig: {
      maxTokens,
      ...(takesTemperature && temperature !== undefined && { temperature }),
    },
    fields: {
      ...(thinking !== undefined && { thinking: { ...thinking } as Json }),
      ...(effort !== undefined && { output_config: { effort } }),
      ...(betas.length > 0 && { anthropic_beta: betas }),
    },
  };
}

/** At the highest effort, the model refuses all limits. */
function limitsOfNova(given: InferenceConfiguration, level: string): Limits {
  const effort = lowToHigh(level);
  const reasoningConfig = { type: "enabled", maxReasoningEffort: effort };
  return { inferenceConfig: effort === "high" ? {} : given, fields: { reasoningConfig } };
}

const efforts: Readonly<Partial<Record<string, "low" | "medium">>> = {
  minimal: "low",
  low: "low",
  medium: "medium",
};

function lowToHigh(level: string): "low" | "medium" | "high" {
  return efforts[level] ?? "high";
}
