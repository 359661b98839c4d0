import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import { objectOf, textOf } from "../wire/json.ts";
import type { VendorRule } from "./vendor.ts";

/** The members with which a request may ask for thinking, and whether a value does. */
const words: Readonly<Record<string, (value: unknown) => boolean>> = {
  reasoning_effort: (value) => isEffort(value),
  reasoning: (value) => {
    const { effort, enabled } = objectOf(value);
    return enabled === true || isEffort(effort);
  },
  thinking: (value) => {
    const type = textOf(objectOf(value).type);
    return type === "enabled" || type === "adaptive";
  },
  enable_thinking: (value) => value === true,
  chat_template_args: (value) => Object.values(objectOf(value)).includes(true),
  chat_template_kwargs: (value) => Object.values(objectOf(value)).includes(true),
};

function isEffort(value: unknown): boolean {
  return typeof value === "string" && value !== "none" && value !== "off";
}

export function asksToThink(body: JsonObject): boolean {
  return Object.entries(words).some(([member, asks]) => member in body && asks(body[member]));
}

export function asksGoogleToThink(body: JsonObject): boolean {
  const { thinkingConfig } = objectOf(body.generationConfig);
  return objectOf(thinkingConfig).includeThoughts === true;
}

export function asksBedrockToThink(body: JsonObject): boolean {
  const fields = objectOf(body.additionalModelRequestFields);
  const isNova = objectOf(fields.reasoningConfig).type === "enabled";
  return isNova || asksToThink(fields) || isEffort(objectOf(body.outputConfig).effort);
}

/** An endpoint that accepts only these of the members that ask for thinking. */
export function knowsOnly(...known: readonly string[]): VendorRule {
  return function* complaints({ body }) {
    for (const member of Object.keys(words)) {
      if (member in body && !known.includes(member)) yield `Unknown parameter: '${member}'`;
    }
  };
}
