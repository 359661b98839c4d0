import { anthropicRules } from "./anthropic-messages.ts";
import { googleRules } from "./google-generative-ai.ts";
import { limitRules } from "./limits.ts";
import { completionsRules } from "./openai-completions.ts";
import { responsesRules } from "./openai-responses.ts";
import type { Refusal, Rule, RuleMemory, RuleRequest } from "./rule.ts";

/** Everything that the vendors refuse and a loopback server refuses too. A further rule is a further row. */
const rules: readonly Rule[] = [
  ...anthropicRules,
  ...completionsRules,
  ...responsesRules,
  ...googleRules,
  ...limitRules,
];

/** The first rule that a request breaks; undefined when the vendor would take it. */
export function findRefusal(request: RuleRequest, memory: RuleMemory): Refusal | undefined {
  for (const { api, rule, check } of rules) {
    const message = api === request.api ? check(request, memory) : undefined;
    if (message !== undefined) return { api, rule, message };
  }
  return undefined;
}
