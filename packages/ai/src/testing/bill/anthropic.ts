import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { RuleRequest } from "../rules/rule.ts";
import { listOf, objectOf, textOf } from "../wire/json.ts";
import type { Charge } from "./charge.ts";
import { MarkedCache } from "./marked-cache.ts";
import { jsonTokens, type Prompt, type PromptPart, setting, withoutMark } from "./prompt.ts";
import { imageSize, patches, type Size, textTokens } from "./tokens.ts";
import type { VendorBill } from "./vendor-bill.ts";

const minute = 60_000;

/**
 * The minimum prompt length in tokens for caching, by model; the first matching row counts. Models that the
 * page does not list have the usual 1 024.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching#cache-limitations
 */
const minimums: readonly (readonly [RegExp, number])[] = [
  [/opus-5|fable-5|mythos-5/, 512],
  [/opus-4-[56]|haiku-4-5/, 4096],
  [/opus-4-7|haiku-3/, 2048],
  [/./, 1024],
];

/**
 * The number of blocks that are checked before a mark, including the marked one.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching#how-automatic-prefix-checking-works
 */
const lookback = 20;

/**
 * Anthropic's bill. The cache stores prompts up to `cache_control` marks, in the order tools, system,
 * messages, and is read at a mark or up to 20 blocks before it. Entries live five minutes, or an hour with
 * `ttl: "1h"`, from their last use. Changed tools or a changed output format invalidate everything. A change
 * of `thinking`, effort, `tool_choice` or the presence of pictures invalidates the messages.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching#what-invalidates-the-cache,
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs,
 * https://platform.claude.com/docs/en/build-with-claude/effort
 */
export function anthropicBill(): VendorBill {
  const cache = new MarkedCache();
  return {
    apis: ["anthropic-messages"],
    read: readPrompt,
    charge(prompt, ids, model, now): Charge {
      const minimum = minimums.find(([pattern]) => pattern.test(model.id))?.[1] ?? 0;
      return cache.charge(prompt, ids, { minimum, lookback }, now);
    },
  };
}

function readPrompt({ body }: RuleRequest): Prompt {
  const model = textOf(body.model);
  const definitions = new Deferred(listOf(body.tools));
  const { format, effort } = objectOf(body.output_config);
  const messages = listOf(body.messages).flatMap((message, index) =>
    messageParts(message, `messages[${index}]`, { model, definitions }),
  );
  const hasImages = JSON.stringify(body.messages ?? []).includes('"type":"image"');
  const before = [
    ...setting("model", model),
    ...setting("output_config.format", format, jsonTokens(format)),
    ...definitions.declared.map(([name, tool]) => part(name, tool, toolTokens(tool))),
    ...blocksOf(body.system).map((block, index) =>
      part(`system[${index}]`, block, textTokens(textOf(block.text))),
    ),
    ...setting("thinking", body.thinking),
    ...setting("output_config.effort", effort),
    ...setting("tool_choice", body.tool_choice),
    ...setting("images", hasImages || undefined),
  ];
  return {
    parts: markedAtTheEnd([...before, ...messages], body.cache_control),
    firstMessage: before.length,
    key: "",
    maxOutput: typeof body.max_tokens === "number" ? body.max_tokens : undefined,
  };
}

/** A `cache_control` on the request itself marks its last block. */
function markedAtTheEnd(parts: PromptPart[], control: unknown): readonly PromptPart[] {
  const last = parts.at(-1);
  if (!isJsonObject(control) || last === undefined) return parts;
  return [...parts.slice(0, -1), { ...last, mark: lifetimeOf(control) }];
}

function part(name: string, block: JsonObject, tokens: number): PromptPart {
  const inner = Array.isArray(block.content) ? listOf(block.content).at(-1) : undefined;
  const control = block.cache_control ?? inner?.cache_control;
  const mark = isJsonObject(control) ? lifetimeOf(control) : undefined;
  return { name, content: withoutMark(block), tokens, mark };
}

/** https://platform.claude.com/docs/en/build-with-claude/prompt-caching#1-hour-cache-duration */
function lifetimeOf({ ttl }: JsonObject): number {
  return ttl === "1h" ? 60 * minute : 5 * minute;
}

function toolTokens({ cache_control: _, ...tool }: JsonObject): number {
  return jsonTokens(tool);
}

/**
 * Tools that are declared later: they belong to the block that names them, not to the prefix.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-use-with-prompt-caching
 */
class Deferred {
  readonly declared: (readonly [string, JsonObject])[] = [];
  readonly #late = new Map<string, number>();

  constructor(tools: readonly JsonObject[]) {
    for (const [index, tool] of tools.entries()) {
      if (tool.defer_loading === true) this.#late.set(textOf(tool.name), toolTokens(tool));
      else this.declared.push([`tools[${index}]`, tool]);
    }
  }

  tokens(block: JsonObject): number {
    const { tool } = block;
    const references = [isJsonObject(tool) ? tool : {}, ...listOf(block.content)];
    const names = references
      .filter(({ type }) => type === "tool_reference")
      .map(({ name, tool_name }) => textOf(name) || textOf(tool_name));
    return names.reduce((sum, name) => sum + (this.#late.get(name) ?? 0), 0);
  }
}

interface Reading {
  readonly model: string;
  readonly definitions: Deferred;
}

function messageParts(message: JsonObject, place: string, reading: Reading): PromptPart[] {
  const { role, content, ...rest } = message;
  const blocks = blocksOf(content);
  // A message that only changes the effort has no block.
  if (blocks.length === 0) return setting(place, rest, jsonTokens(rest));
  return blocks.map((block, index) => {
    const tokens = blockTokens(block, reading.model) + reading.definitions.tokens(block);
    const own = part(`${place}.content[${index}]`, block, tokens);
    return { ...own, content: `${role} ${own.content}` };
  });
}

function blocksOf(content: unknown): JsonObject[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
}

function blockTokens(block: JsonObject, model: string): number {
  switch (block.type) {
    case "text":
      return textTokens(textOf(block.text));
    case "thinking":
      return textTokens(textOf(block.thinking));
    case "tool_use":
      return textTokens(textOf(block.name) + JSON.stringify(block.input ?? {}));
    case "tool_result":
      return blocksOf(block.content)
        .map((inner) => blockTokens(inner, model))
        .reduce((sum, tokens) => sum + tokens, 0);
    case "tool_reference":
      return 0;
    case "image":
      return imageTokens(imageSize(textOf(objectOf(block.source).data)), model);
    default:
      return textTokens(withoutMark(block));
  }
}

/**
 * One token per 28 × 28 pixels. Opus 4.7 and later accept up to 2 576 pixels per side and 4 784 tokens; other
 * models accept up to 1 568 of both. Larger pictures are scaled down.
 * https://platform.claude.com/docs/en/build-with-claude/vision#evaluate-image-size
 */
function imageTokens(size: Size, model: string): number {
  const isLarge = !/claude-3|(?:opus|sonnet|haiku)-4-[0-6]/.test(model);
  const [side, most] = isLarge ? [2576, 4784] : [1568, 1568];
  const scale = Math.min(1, side / Math.max(size.width, size.height));
  return patches({ width: size.width * scale, height: size.height * scale }, 28, most);
}
