import type { Model } from "@tau-agent/rpc-protocol/messages";
import { thinksAdaptively } from "../anthropic-messages/features.ts";

/** Adds the differences from Anthropic's own servers, unless the model specifies them. */
export function onVertex(model: Model): Model {
  const compat = {
    supportsEagerToolInputStreaming: false,
    forceAdaptiveThinking: thinksAdaptively(`${model.id} ${model.name}`),
    ...model.compat,
  };
  return { ...model, compat };
}
