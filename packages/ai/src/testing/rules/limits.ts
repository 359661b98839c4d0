import { objectOf } from "../wire/json.ts";
import { estimateTokens, modelOf } from "./common.ts";
import { type ModelLimits, type Rule, type RuleMemory, type RuleRequest, rulesOf } from "./rule.ts";

const minResponsesTokens = 16;

interface Asked extends ModelLimits {
  readonly name: string;
  readonly output: number;
  readonly input: number;
}

/** The requested output and thinking, with the limits of the model; undefined without an output limit. */
function askedOf(
  { body, path }: RuleRequest,
  { models }: RuleMemory,
  name: string,
  value: unknown,
): Asked | undefined {
  if (typeof value !== "number") return undefined;
  const limits = models.get(modelOf(body, path)) ?? {
    contextWindow: Number.POSITIVE_INFINITY,
    maxTokens: Number.POSITIVE_INFINITY,
  };
  return { ...limits, name, output: value, input: estimateTokens(body) };
}

function* anthropicLimits(request: RuleRequest, memory: RuleMemory): Generator<string> {
  const asked = askedOf(request, memory, "max_tokens", request.body.max_tokens);
  if (asked === undefined) return;
  const { output, input, contextWindow, maxTokens } = asked;
  if (!isCount(output)) yield "max_tokens: Input should be greater than or equal to 1";
  const model = modelOf(request.body, request.path);
  if (output > maxTokens) {
    yield `max_tokens: ${output} > ${maxTokens}, which is the maximum allowed number of output tokens for ${model}`;
  }
  if (input > contextWindow) {
    yield `prompt is too long: ${input} tokens > ${contextWindow} maximum`;
  }
  if (input + output > contextWindow) {
    yield `input length and \`max_tokens\` exceed context limit: ${input} + ${output} > ${contextWindow}, decrease input length or \`max_tokens\` and try again`;
  }
}

function* completionsLimits(request: RuleRequest, memory: RuleMemory): Generator<string> {
  const { max_tokens: older, max_completion_tokens: newer } = request.body;
  if (older !== undefined && newer !== undefined) {
    yield "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
  }
  const name = newer === undefined ? "max_tokens" : "max_completion_tokens";
  const asked = askedOf(request, memory, name, newer ?? older);
  if (asked === undefined) return;
  const { output, input, contextWindow, maxTokens } = asked;
  if (!isCount(output)) {
    yield `Invalid '${name}': integer below minimum value. Expected a value >= 1, but got ${output} instead.`;
  }
  if (output > maxTokens) {
    yield `${name} is too large: ${output}. This model supports at most ${maxTokens} completion tokens, whereas you provided ${output}.`;
  }
  if (input + output > contextWindow) {
    yield `This model's maximum context length is ${contextWindow} tokens. However, you requested ${input + output} tokens (${input} in the messages, ${output} in the completion). Please reduce the length of the messages or completion.`;
  }
}

function* responsesLimits(request: RuleRequest, memory: RuleMemory): Generator<string> {
  const name = "max_output_tokens";
  const asked = askedOf(request, memory, name, request.body.max_output_tokens);
  if (asked === undefined) return;
  const { output, maxTokens } = asked;
  if (!isCount(output) || output < minResponsesTokens) {
    yield `Invalid '${name}': integer below minimum value. Expected a value >= ${minResponsesTokens}, but got ${output} instead.`;
  }
  if (output > maxTokens) {
    yield `${name} is too large: ${output}. This model supports at most ${maxTokens} output tokens.`;
  }
}

function* googleLimits(request: RuleRequest, memory: RuleMemory): Generator<string> {
  const { maxOutputTokens } = objectOf(request.body.generationConfig);
  const asked = askedOf(request, memory, "maxOutputTokens", maxOutputTokens);
  if (asked === undefined) return;
  const { output, input, contextWindow, maxTokens } = asked;
  if (!isCount(output)) yield `max_output_tokens must be positive, got ${output}`;
  if (output > maxTokens) {
    yield `Unable to submit request because it has a maxOutputTokens value of ${output} but the supported range is from 1 (inclusive) to ${maxTokens + 1} (exclusive). Update the value and try again.`;
  }
  if (input > contextWindow) {
    yield `The input token count (${input}) exceeds the maximum number of tokens allowed (${contextWindow}).`;
  }
}

function* bedrockLimits(request: RuleRequest, memory: RuleMemory): Generator<string> {
  const { maxTokens: wanted } = objectOf(request.body.inferenceConfig);
  const asked = askedOf(request, memory, "maxTokens", wanted);
  if (asked === undefined) return;
  const { output, input, contextWindow, maxTokens } = asked;
  if (!isCount(output)) {
    yield `Value '${output}' at 'inferenceConfig.maxTokens' failed to satisfy constraint: Member must have value greater than or equal to 1`;
  }
  if (output > maxTokens) {
    yield `The maximum tokens you requested exceeds the model limit of ${maxTokens}. Try again with a maximum tokens value that is lower than ${maxTokens}.`;
  }
  if (input > contextWindow) yield "Input is too long for requested model.";
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1;
}

/** Output limits must be within the model's own limit and the rest of its window. */
export const limitRules: readonly Rule[] = [
  ...rulesOf("anthropic-messages", { limits: anthropicLimits }),
  ...rulesOf("openai-completions", { limits: completionsLimits }),
  ...rulesOf("openai-responses", { limits: responsesLimits }),
  ...rulesOf("google-generative-ai", { limits: googleLimits }),
  ...rulesOf("bedrock-converse-stream", { limits: bedrockLimits }),
];
