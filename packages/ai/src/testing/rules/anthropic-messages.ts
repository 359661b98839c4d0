import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import { listOf, objectOf, textOf } from "../wire/json.ts";
import { checkBoundThinking } from "./bound-thinking.ts";
import {
  blocksOf,
  isFilledList,
  messagesOf,
  repeated,
  schemaFaults,
  unknownMembers,
} from "./common.ts";
import { outputConfigFaults } from "./output-form.ts";
import { type Rule, type RuleMemory, type RuleRequest, rulesOf } from "./rule.ts";

const api = "anthropic-messages";

const members: ReadonlySet<string> = new Set([
  ...["model", "messages", "max_tokens", "system", "tools", "tool_choice", "stream", "thinking"],
  ...["temperature", "top_p", "top_k", "stop_sequences", "metadata", "output_config"],
  ...["service_tier", "container", "context_management", "mcp_servers", "cache_control"],
  ...["inference_geo", "speed", "diagnostics", "compaction", "fallbacks", "thread"],
]);

const blockTypes: Readonly<Record<string, ReadonlySet<string>>> = {
  user: new Set(["text", "image", "document", "search_result", "tool_result"]),
  assistant: new Set(["text", "thinking", "redacted_thinking", "tool_use"]),
};

const imageTypes: ReadonlySet<string> = new Set([
  ...["image/jpeg", "image/png", "image/gif", "image/webp"],
]);

/** Models with windows up to this size accept fewer images. */
const smallWindow = 200_000;
const maxImages = { small: 100, large: 600 };
const maxCacheMarks = 4;
const minBudget = 1024;

function* required({ body }: RuleRequest): Generator<string> {
  for (const name of unknownMembers(body, members)) yield `${name}: Extra inputs are not permitted`;
  for (const name of ["model", "max_tokens", "messages"]) {
    if (body[name] === undefined) yield `${name}: Field required`;
  }
  if (!isFilledList(body.messages)) yield "messages: at least one message is required";
}

function* roles(request: RuleRequest): Generator<string> {
  const messages = messagesOf(request);
  for (const [index, { role }] of messages.entries()) {
    if (role !== "user" && role !== "assistant" && role !== "system") {
      yield `messages.${index}.role: Input should be 'user' or 'assistant'`;
    }
  }
  const spoken = messages.filter(({ role }) => role !== "system");
  if (spoken[0]?.role !== "user") yield 'messages: first message must use the "user" role';
  if (spoken.at(-1)?.role === "assistant") {
    yield "This model does not support assistant message prefill. The conversation must end with a user message.";
  }
}

function* content(request: RuleRequest): Generator<string> {
  for (const [index, message] of messagesOf(request).entries()) {
    const role = textOf(message.role);
    if (role === "system") continue;
    const blocks = blocksOf(message.content);
    if (blocks.length === 0) {
      yield `messages.${index}: all messages must have non-empty content except for the optional final assistant message`;
    }
    for (const [at, block] of blocks.entries()) {
      const place = `messages.${index}.content.${at}`;
      if (!blockTypes[role]?.has(textOf(block.type))) {
        yield `${place}: Input tag '${block.type}' found using 'type' does not match any of the expected tags for role '${role}'`;
      }
      yield* blockFaults(block, place);
    }
  }
  for (const block of blocksOf(request.body.system ?? [])) yield* blockFaults(block, "system");
}

function* blockFaults(block: JsonObject, place: string): Generator<string> {
  const { type } = block;
  if (type === "text") {
    if (typeof block.text !== "string") yield `${place}.text: Input should be a valid string`;
    else if (block.text === "") yield "messages: text content blocks must be non-empty";
    else if (block.text.trim() === "") {
      yield "messages: text content blocks must contain non-whitespace text";
    }
  }
  if (type === "image") yield* imageFaults(block, place);
  if (type === "tool_result") {
    for (const [at, inner] of blocksOf(block.content ?? []).entries()) {
      // The content of a result may be an empty text, but not an empty block.
      if (Array.isArray(block.content)) yield* blockFaults(inner, `${place}.content.${at}`);
    }
  }
  if (type === "thinking") {
    if (typeof block.thinking !== "string") yield `${place}.thinking.thinking: Field required`;
    if (typeof block.signature !== "string") yield `${place}.thinking.signature: Field required`;
    else if (block.signature === "") yield `${place}: Invalid \`signature\` in \`thinking\` block`;
    if (block.cache_control !== undefined) {
      yield `${place}.thinking.cache_control: Extra inputs are not permitted`;
    }
  }
  if (type === "redacted_thinking" && !textOf(block.data)) {
    yield `${place}.redacted_thinking.data: Field required`;
  }
}

function* imageFaults(block: JsonObject, place: string): Generator<string> {
  const source = objectOf(block.source);
  if (source.type !== "base64") return;
  if (!imageTypes.has(textOf(source.media_type))) {
    yield `${place}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`;
  }
  if (textOf(source.data) === "") yield `${place}.image.source.base64: image cannot be empty`;
}

function* counts(request: RuleRequest, { models }: RuleMemory): Generator<string> {
  const text = JSON.stringify(request.body);
  const marks = text.match(/"cache_control":\{/g)?.length ?? 0;
  if (marks > maxCacheMarks) {
    yield `A maximum of ${maxCacheMarks} blocks with cache_control may be provided. Found ${marks}.`;
  }
  const images = text.match(/"type":"image","source"/g)?.length ?? 0;
  // For a model unknown to the server, only the rules for all models apply.
  const window = models.get(textOf(request.body.model))?.contextWindow ?? Number.POSITIVE_INFINITY;
  const most = window > smallWindow ? maxImages.large : maxImages.small;
  if (images > most) yield `messages: too many images and documents: ${images} + 0 > ${most}`;
}

/** Marks in the order of the cache: tools, instructions, messages. */
function* cacheLifetimes({ body: { tools, system, messages } }: RuleRequest): Generator<string> {
  const marks = JSON.stringify([tools, system, messages]).match(/"cache_control":\{[^}]*\}/g) ?? [];
  const firstShort = marks.findIndex((mark) => !mark.includes('"1h"'));
  if (firstShort < 0 || firstShort >= marks.findLastIndex((mark) => mark.includes('"1h"'))) return;
  yield "cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.";
}

function* toolUses(request: RuleRequest): Generator<string> {
  const ids: string[] = [];
  for (const [index, message] of messagesOf(request).entries()) {
    for (const [at, block] of blocksOf(message.content).entries()) {
      if (block.type !== "tool_use") continue;
      const place = `messages.${index}.content.${at}.tool_use`;
      const id = textOf(block.id);
      ids.push(id);
      if (!/^[a-zA-Z0-9_-]+$/.test(id)) {
        yield `${place}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
      }
      if (!/^[a-zA-Z0-9_-]{1,200}$/.test(textOf(block.name))) {
        yield `${place}.name: String should match pattern '^[a-zA-Z0-9_-]{1,200}$'`;
      }
      if (!isJsonObject(block.input)) yield `${place}.input: Input should be a valid dictionary`;
    }
  }
  if (repeated(ids).length > 0) yield "messages: `tool_use` ids must be unique";
}

function idsOf(message: JsonObject | undefined, type: string, member: string): string[] {
  const blocks = blocksOf(message?.content ?? []);
  return blocks.filter((block) => block.type === type).map((block) => textOf(block[member]));
}

function* pairs(request: RuleRequest): Generator<string> {
  const messages = messagesOf(request);
  for (const [index, message] of messages.entries()) {
    const asked = idsOf(message, "tool_use", "id");
    const answered = idsOf(messages[index + 1], "tool_result", "tool_use_id");
    const open = asked.filter((id) => !answered.includes(id));
    if (open.length > 0) {
      yield `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
    }
    const own = idsOf(message, "tool_result", "tool_use_id");
    const before = idsOf(messages[index - 1], "tool_use", "id");
    const stray = own.find((id) => !before.includes(id));
    if (stray !== undefined) {
      yield `messages.${index}.content: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
    }
    for (const id of repeated(own)) {
      yield `messages.${index}.content: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`;
    }
    const types = blocksOf(message.content).map(({ type }) => type);
    if (types.lastIndexOf("tool_result") >= own.length) {
      yield `messages.${index}: \`tool_result\` blocks must come before any other content`;
    }
  }
}

function* thinking({ body }: RuleRequest): Generator<string> {
  const { type, budget_tokens: budget } = objectOf(body.thinking);
  if (body.thinking !== undefined && !["enabled", "disabled", "adaptive"].includes(textOf(type))) {
    yield "thinking: Input tag does not match any of the expected tags: 'enabled', 'disabled', 'adaptive'";
  }
  if (type === "enabled") {
    if (typeof budget !== "number" || budget < minBudget) {
      yield `thinking.enabled.budget_tokens: Input should be greater than or equal to ${minBudget}`;
    }
    if (Number(budget) >= Number(body.max_tokens)) {
      yield "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size";
    }
  }
  const isOn = type === "enabled" || type === "adaptive";
  if (isOn && body.temperature !== undefined && body.temperature !== 1) {
    yield "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.";
  }
}

function* tools({ body }: RuleRequest): Generator<string> {
  const list = listOf(body.tools);
  for (const [index, tool] of list.entries()) {
    if (textOf(tool.type) !== "" && tool.type !== "custom") continue;
    const place = `tools.${index}.custom`;
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(textOf(tool.name))) {
      yield `${place}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`;
    }
    const schema = objectOf(tool.input_schema);
    if (schema.type !== "object") yield `${place}.input_schema.type: Input should be 'object'`;
    if (schema.oneOf !== undefined || schema.allOf !== undefined || schema.anyOf !== undefined) {
      yield `${place}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`;
    }
    const keys = Object.keys(objectOf(schema.properties));
    if (keys.some((key) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(key))) {
      yield `${place}.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`;
    }
    for (const _ of schemaFaults(schema)) {
      yield `${place}.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12).`;
    }
  }
  if (repeated(list.map(({ name }) => textOf(name))).length > 0) {
    yield "tools: Tool names must be unique.";
  }
}

/** The places where system messages are allowed between others. */
function* systemPlaces(request: RuleRequest): Generator<string> {
  const messages = messagesOf(request);
  for (const [index, message] of messages.entries()) {
    if (message.role !== "system") continue;
    const next = messages[index + 1]?.role;
    const isEffortOnly =
      blocksOf(message.content).length === 0 && message.output_config !== undefined;
    if (isEffortOnly && next !== undefined) continue;
    if (messages[index - 1]?.role !== "user") {
      yield `messages.${index}: role 'system' must follow a 'user' message`;
    }
    if (next !== undefined && next !== "assistant") {
      yield `messages.${index}: role 'system' must precede an 'assistant' message or end the array`;
    }
  }
}

export const anthropicRules: readonly Rule[] = [
  ...rulesOf(api, {
    required,
    roles,
    content,
    counts,
    "cache-lifetimes": cacheLifetimes,
    "tool-uses": toolUses,
    pairs,
    thinking,
    tools,
    "system-places": systemPlaces,
    output: ({ body }) => outputConfigFaults(objectOf(body.output_config)),
  }),
  {
    api,
    rule: "bound-thinking",
    check: (request, { signed }) => checkBoundThinking(request, signed),
  },
];
