import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { RuleRequest } from "../rules/rule.ts";
import { listOf, objectOf, textOf } from "../wire/json.ts";
import type { Charge } from "./charge.ts";
import { PrefixCache } from "./prefix-cache.ts";
import { type Prompt, type PromptPart, setting } from "./prompt.ts";
import { imageSize, type Size, textTokens } from "./tokens.ts";
import type { VendorBill } from "./vendor-bill.ts";

/**
 * The minimum prompt length in tokens for caching: 2 048 for Gemini 2.5, 4 096 for later models.
 * https://ai.google.dev/gemini-api/docs/caching#implicit-caching
 */
const minimums = { old: 2048, new: 4096 };
/**
 * Google only publishes that cached prompts are removed within 24 hours, most of them sooner. One hour is our
 * assumption.
 * https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/context-cache/context-cache-overview
 */
const lifetime = 3_600_000;

/**
 * Google's bill: implicit caching stores prompts automatically, with a minimum by model, and writing is free. Google
 * does not guarantee hits; this server always grants them. https://ai.google.dev/gemini-api/docs/caching
 */
export function googleBill(): VendorBill {
  const cache = new PrefixCache();
  return {
    apis: ["google-generative-ai"],
    read: readPrompt,
    charge(prompt, ids, { id }, now): Charge {
      const minimum = isOld(id) ? minimums.old : minimums.new;
      return cache.charge(prompt, ids, { minimum, step: 1, lifetime }, now);
    },
  };
}

function isOld(model: string): boolean {
  return /gemini-[12]/.test(model);
}

function readPrompt({ body, path }: RuleRequest): Prompt {
  const model = decodeURIComponent(/models\/([^:?]+)/.exec(path)?.[1] ?? "");
  const system = listOf(objectOf(body.systemInstruction).parts);
  const tools = listOf(body.tools).flatMap((tool) => listOf(tool.functionDeclarations));
  const before = [
    ...setting("model", model),
    ...system.map((block, index) => part(`systemInstruction[${index}]`, block, model)),
    ...tools.map((tool, index) => part(`tools[${index}]`, tool, model)),
  ];
  const contents = listOf(body.contents).flatMap((content, index) =>
    listOf(content.parts).map((block, at) => {
      const own = part(`contents[${index}].parts[${at}]`, block, model);
      return { ...own, content: `${content.role} ${own.content}` };
    }),
  );
  const { maxOutputTokens: limit } = objectOf(body.generationConfig);
  return {
    parts: [...before, ...contents],
    firstMessage: before.length,
    key: "",
    maxOutput: typeof limit === "number" ? limit : undefined,
  };
}

function part(name: string, block: JsonObject, model: string): PromptPart {
  return { name, content: JSON.stringify(block), tokens: tokensOf(block, model) };
}

function tokensOf(block: JsonObject, model: string): number {
  const { inlineData, functionResponse, thoughtSignature: _, ...rest } = block;
  if (inlineData !== undefined) {
    return imageTokens(imageSize(textOf(objectOf(inlineData).data)), model);
  }
  if (functionResponse !== undefined) {
    const { parts, ...answer } = objectOf(functionResponse);
    const pictures = listOf(parts).map((inner) => tokensOf(inner, model));
    return pictures.reduce((sum, tokens) => sum + tokens, textTokens(JSON.stringify(answer)));
  }
  const isText = typeof block.text === "string";
  return textTokens(isText ? textOf(block.text) : JSON.stringify(rest));
}

/**
 * Gemini 3 and later: 1 120 tokens per picture. Before: 258 for a small picture, or for each tile of 768 pixels.
 * https://ai.google.dev/gemini-api/docs/media-resolution, https://ai.google.dev/gemini-api/docs/tokens
 */
function imageTokens({ width, height }: Size, model: string): number {
  if (!isOld(model)) return 1120;
  if (width <= 384 && height <= 384) return 258;
  return 258 * Math.ceil(width / 768) * Math.ceil(height / 768);
}
