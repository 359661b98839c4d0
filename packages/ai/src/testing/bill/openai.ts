import type { Model } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { RuleRequest } from "../rules/rule.ts";
import { listOf, objectOf, textOf } from "../wire/json.ts";
import type { Charge } from "./charge.ts";
import { MarkedCache } from "./marked-cache.ts";
import { PrefixCache } from "./prefix-cache.ts";
import { jsonTokens, type Prompt, type PromptPart, setting, withoutMark } from "./prompt.ts";
import { imageSize, patches, textTokens } from "./tokens.ts";
import type { VendorBill } from "./vendor-bill.ts";

const minute = 60_000;
const day = 24 * 60 * minute;

/** https://developers.openai.com/api/docs/guides/prompt-caching#requirements */
const minimum = 1024;
/** Models before GPT-5.6 read the cache in these steps. */
const step = 128;
/**
 * The page says five to ten minutes without use, in memory; we use the guaranteed time. GPT-5.5 supports only
 * extended caching. https://developers.openai.com/api/docs/guides/prompt-caching#prompt-cache-retention
 */
const inMemory = 5 * minute;
/** GPT-5.6 and later keep prompts at least this long after their last use. */
const marked = 30 * minute;

/**
 * OpenAI's bill. Models before GPT-5.6 store every prompt of at least 1 024 tokens, read it in steps of 128
 * and charge nothing for writing. Later models charge for writing and store prompts up to breakpoints: those
 * that the request names, and the end of the newest message unless `prompt_cache_options.mode` is `explicit`.
 * Requests find the prompts of others with the same `prompt_cache_key`. A changed output format or effort
 * changes the beginning. https://developers.openai.com/api/docs/guides/prompt-caching
 */
export function openAiBill(): VendorBill {
  const plain = new PrefixCache();
  const breakpoints = new MarkedCache();
  return {
    apis: ["openai-responses", "openai-completions"],
    read: readPrompt,
    charge(prompt, ids, model, now): Charge {
      if (hasBreakpoints(model)) {
        const rules = { minimum, lookback: Number.POSITIVE_INFINITY };
        return breakpoints.charge(prompt, ids, rules, now);
      }
      const lifetime = /^gpt-5\.5/.test(model.id) ? day : inMemory;
      return plain.charge(prompt, ids, { minimum, step, lifetime }, now);
    },
  };
}

function hasBreakpoints({ compat }: Model): boolean {
  return compat?.supportsExplicitPromptCacheMode === true;
}

function readPrompt({ body }: RuleRequest): Prompt {
  const format = objectOf(body.text).format ?? body.response_format;
  const schema = objectOf(format).type === "text" ? undefined : format;
  const effort = objectOf(body.reasoning).effort ?? body.reasoning_effort;
  const list = body.input === undefined ? "messages" : "input";
  const items = itemsOf(body[list]).flatMap((item, index) => itemParts(item, `${list}[${index}]`));
  const before = [
    ...setting("model", body.model),
    ...setting("text.format", schema, jsonTokens(schema)),
    ...setting("reasoning.effort", effort),
    ...listOf(body.tools).map((tool, index) => part(`tools[${index}]`, tool, jsonTokens(tool))),
    ...(textOf(body.instructions) === ""
      ? []
      : [part("instructions", { text: body.instructions }, textTokens(textOf(body.instructions)))]),
  ];
  const limit = body.max_output_tokens ?? body.max_completion_tokens ?? body.max_tokens;
  const isLong = body.prompt_cache_retention === "24h";
  return {
    parts: withImplicitMark([...before, ...items], objectOf(body.prompt_cache_options)),
    firstMessage:
      before.length + items.findIndex(({ content }) => !/^(system|developer)/.test(content)),
    key: textOf(body.prompt_cache_key),
    maxOutput: typeof limit === "number" ? limit : undefined,
    ...(isLong && { retention: day }),
  };
}

function withImplicitMark(parts: PromptPart[], { mode }: JsonObject): readonly PromptPart[] {
  const last = parts.at(-1);
  if (mode === "explicit" || last === undefined) return parts;
  return [...parts.slice(0, -1), { ...last, mark: marked }];
}

function itemsOf(input: unknown): JsonObject[] {
  return typeof input === "string" ? [{ role: "user", content: input }] : listOf(input);
}

function itemParts(item: JsonObject, place: string): PromptPart[] {
  const { role = "", content, ...rest } = item;
  const contents = Array.isArray(content) ? listOf(content) : textParts(content);
  const blocks = contents.map((block, index) => {
    const own = part(`${place}.content[${index}]`, block, blockTokens(block));
    return { ...own, content: `${role} ${own.content}` };
  });
  if (content !== undefined && item.tool_calls === undefined) return blocks;
  // Calls, their results and reasoning are separate items, or members of a message.
  return [...blocks, { ...part(place, item, itemTokens(rest)), content: JSON.stringify(rest) }];
}

function textParts(content: unknown): JsonObject[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : [];
}

function part(name: string, block: JsonObject, tokens: number): PromptPart {
  const mark = isJsonObject(block.prompt_cache_breakpoint) ? marked : undefined;
  return { name, content: withoutMark(block), tokens, mark };
}

function itemTokens(item: JsonObject): number {
  switch (item.type) {
    case "function_call":
      return textTokens(textOf(item.name) + textOf(item.arguments));
    case "function_call_output":
      return (Array.isArray(item.output) ? listOf(item.output) : textParts(item.output))
        .map(blockTokens)
        .reduce((sum, tokens) => sum + tokens, 0);
    case "reasoning":
      return listOf(item.summary)
        .map(({ text }) => textTokens(textOf(text)))
        .reduce((sum, tokens) => sum + tokens, 0);
    default:
      return jsonTokens(item);
  }
}

function blockTokens(block: JsonObject): number {
  const { image_url } = block;
  const url = textOf(image_url) || textOf(objectOf(image_url).url);
  return url === "" ? textTokens(textOf(block.text)) : imageTokens(url);
}

/**
 * 1.2 tokens per 32 × 32 pixels, up to 10 000 such patches.
 * https://developers.openai.com/api/docs/guides/images-vision#calculating-costs
 */
function imageTokens(url: string): number {
  const size = imageSize(url.slice(url.indexOf(",") + 1));
  return Math.ceil(patches(size, 32, 10_000) * 1.2);
}
