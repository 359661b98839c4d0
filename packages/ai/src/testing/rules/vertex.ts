import { listOf, objectOf, textOf } from "../wire/json.ts";
import { modelOf } from "./common.ts";
import { type Rule, type RuleRequest, rulesOf } from "./rule.ts";

function* parts({ body }: RuleRequest): Generator<string> {
  for (const { parts: list } of listOf(body.contents)) {
    for (const part of listOf(list)) {
      if (textOf(part.thoughtSignature) === "skip_thought_signature_validator") {
        yield "Unable to submit request because thought signature is not valid.";
      }
      for (const name of ["functionCall", "functionResponse"]) {
        if (objectOf(part[name]).id !== undefined) {
          yield `Invalid JSON payload received. Unknown name "id" at '${name}': Cannot find field.`;
        }
      }
    }
  }
}

function* version({ body }: RuleRequest): Generator<string> {
  if (body.anthropic_version !== "vertex-2023-10-16") {
    yield "anthropic_version: Field required";
  }
  if (body.model !== undefined) yield "model: Extra inputs are not permitted";
}

/** What Vertex AI refuses in addition to Google and Anthropic. */
export const vertexRules: readonly Rule[] = [
  ...rulesOf("google-vertex", { parts }),
  ...rulesOf("anthropic-vertex", { version }),
];

/** Converts a request for Claude on Vertex AI to the form for Anthropic itself. */
export function toAnthropic(request: RuleRequest): RuleRequest {
  const { anthropic_version: _, ...body } = request.body;
  return { ...request, body: { ...body, model: modelOf({}, request.path) } };
}
