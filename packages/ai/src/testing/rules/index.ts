import type { LoopbackApi } from "../loopback-api.ts";
import { anthropicRules } from "./anthropic-messages.ts";
import { azureRules } from "./azure-openai-responses.ts";
import { bedrockRules } from "./bedrock-converse-stream.ts";
import { googleRules } from "./google-generative-ai.ts";
import { limitRules } from "./limits.ts";
import { mistralRules, toCompletions } from "./mistral-conversations.ts";
import { codexRules } from "./openai-codex-responses.ts";
import { completionsRules } from "./openai-completions.ts";
import { responsesRules } from "./openai-responses.ts";
import type { Refusal, Rule, RuleMemory, RuleRequest } from "./rule.ts";
import { toAnthropic, vertexRules } from "./vertex.ts";

/** The rules by which a loopback server refuses what the vendors refuse. Add a rule by adding a row. */
const rules: readonly Rule[] = [
  ...anthropicRules,
  ...completionsRules,
  ...responsesRules,
  ...bedrockRules,
  ...googleRules,
  ...limitRules,
];

/** Clouds that accept another vendor's format, and their additional rules. */
const clouds: readonly Rule[] = [
  ...azureRules,
  ...sameAs("openai-responses", "azure-openai-responses"),
  ...codexRules,
  ...sameAs("openai-responses", "openai-codex-responses"),
  ...mistralRules,
  ...sameAs("openai-completions", "mistral-conversations", toCompletions),
  ...vertexRules,
  ...sameAs("google-generative-ai", "google-vertex"),
  ...sameAs("anthropic-messages", "anthropic-vertex", toAnthropic),
];

function sameAs(
  vendor: LoopbackApi,
  cloud: LoopbackApi,
  translate: (request: RuleRequest) => RuleRequest = (request) => request,
): Rule[] {
  return rules
    .filter(({ api }) => api === vendor)
    .map(({ rule, check }) => ({
      api: cloud,
      rule,
      check: (request, memory) => check({ ...translate(request), api: vendor }, memory),
    }));
}

/** The first rule that a request breaks; undefined if the vendor would accept it. */
export function findRefusal(request: RuleRequest, memory: RuleMemory): Refusal | undefined {
  for (const { api, rule, check } of [...rules, ...clouds]) {
    const message = api === request.api ? check(request, memory) : undefined;
    if (message !== undefined) return { api, rule, message };
  }
  return undefined;
}
