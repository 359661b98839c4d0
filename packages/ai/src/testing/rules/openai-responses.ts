import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import { listOf, objectOf, textOf } from "../wire/json.ts";
import { isFilledList, repeated, unknownMembers } from "./common.ts";
import { badName, emptyList, functionFaults, isImageUrl, sameNames } from "./openai-functions.ts";
import { replyFormFaults } from "./output-form.ts";
import { type RuleRequest, rulesOf } from "./rule.ts";

const members: ReadonlySet<string> = new Set([
  ...["model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "stream"],
  ...["stream_options", "store", "metadata", "max_output_tokens", "max_tool_calls", "temperature"],
  ...["top_p", "top_logprobs", "reasoning", "text", "include", "truncation", "user"],
  ...["service_tier", "prompt_cache_key", "prompt_cache_retention", "prompt_cache_options"],
  ...["safety_identifier", "previous_response_id", "conversation", "background", "prompt"],
  ...["context_management"],
]);

/** The types of items and the prefixes of their ids. */
const idPrefixes: Readonly<Record<string, string>> = {
  message: "msg",
  function_call: "fc",
  reasoning: "rs",
};
const maxIdLength = 64;

const partTypes: Readonly<Record<string, ReadonlySet<string>>> = {
  user: new Set(["input_text", "input_image", "input_file"]),
  system: new Set(["input_text", "input_image", "input_file"]),
  developer: new Set(["input_text", "input_image", "input_file"]),
  assistant: new Set(["output_text", "refusal"]),
};

function itemsOf({ body }: RuleRequest): readonly JsonObject[] {
  return listOf(body.input);
}

function typeOf(item: JsonObject): string {
  return textOf(item.type) || (item.role === undefined ? "" : "message");
}

function* required({ body }: RuleRequest): Generator<string> {
  for (const name of unknownMembers(body, members)) yield `Unknown parameter: '${name}'.`;
  if (!textOf(body.model)) yield "Missing required parameter: 'model'.";
  if (textOf(body.input) === "" && !isFilledList(body.input)) {
    yield "Missing required parameter: 'input'.";
  }
}

function* content(request: RuleRequest): Generator<string> {
  for (const [index, item] of itemsOf(request).entries()) {
    const type = typeOf(item);
    if (type === "additional_tools" || type === "configuration_update") {
      yield* changeFaults(item, `input[${index}]`);
      continue;
    }
    if (type === "item_reference" || (type !== "function_call_output" && !(type in idPrefixes))) {
      yield `Invalid value: '${type}'. (input[${index}].type)`;
    }
    if (type === "message") yield* messageFaults(item, `input[${index}]`);
    if (type === "function_call_output" && typeof item.output !== "string") {
      if (!isFilledList(item.output)) yield `Missing required parameter: 'input[${index}].output'.`;
      for (const part of listOf(item.output))
        yield* partFaults(part, "user", `input[${index}].output`);
    }
  }
}

/** Checks changes of tools and effort between two messages. */
function* changeFaults(item: JsonObject, place: string): Generator<string> {
  if (item.type === "additional_tools") {
    if (item.role !== "developer") yield `Invalid value: '${textOf(item.role)}'. (${place}.role)`;
    if (!isFilledList(item.tools)) yield `Missing required parameter: '${place}.tools'.`;
    return;
  }
  const { effort } = objectOf(item.reasoning);
  if (typeof effort !== "string" && item.text === undefined) {
    yield `Missing required parameter: '${place}.reasoning'.`;
  }
}

function* messageFaults(item: JsonObject, place: string): Generator<string> {
  const role = textOf(item.role);
  if (!Object.hasOwn(partTypes, role)) yield `Invalid value: '${role}'. (${place}.role)`;
  if (typeof item.content === "string") return;
  if (!isFilledList(item.content)) yield emptyList(`${place}.content`);
  for (const part of listOf(item.content)) yield* partFaults(part, role, `${place}.content`);
}

function* partFaults(part: JsonObject, role: string, place: string): Generator<string> {
  const type = textOf(part.type);
  if (!partTypes[role]?.has(type)) yield `Invalid value: '${type}'. (${place})`;
  const hasText = type === "input_text" || type === "output_text";
  if (hasText && typeof part.text !== "string")
    yield `Missing required parameter: '${place}.text'.`;
  if (type !== "input_image") return;
  if (!isImageUrl(textOf(part.image_url))) {
    yield `Invalid '${place}.image_url'. Expected a valid URL, but got a value with an invalid format.`;
  }
}

function* ids(request: RuleRequest): Generator<string> {
  const own: string[] = [];
  for (const [index, item] of itemsOf(request).entries()) {
    const type = typeOf(item);
    const prefix = Object.hasOwn(idPrefixes, type) ? idPrefixes[type] : undefined;
    const { id } = item;
    if (typeof id === "string") {
      own.push(id);
      if (prefix !== undefined && !id.startsWith(prefix)) {
        yield `Invalid 'input[${index}].id': '${id}'. Expected an ID that begins with '${prefix}'.`;
      }
    } else if (type === "reasoning") yield `Missing required parameter: 'input[${index}].id'.`;
    for (const name of ["id", "call_id"]) yield* idFaults(item[name], `input[${index}].${name}`);
  }
  for (const id of repeated(own)) {
    yield `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`;
  }
}

function* idFaults(id: unknown, place: string): Generator<string> {
  if (id === undefined || id === null) return;
  const text = textOf(id);
  if (text === "")
    yield `Invalid '${place}': empty string. Expected a string with minimum length 1.`;
  if (text.length > maxIdLength) {
    yield `Invalid '${place}': string too long. Expected a string with maximum length ${maxIdLength}, but got a string with length ${text.length} instead.`;
  }
  if (!/^[a-zA-Z0-9_-]*$/.test(text)) {
    yield `Invalid '${place}': '${text}'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.`;
  }
}

function* calls(request: RuleRequest): Generator<string> {
  for (const [index, item] of itemsOf(request).entries()) {
    if (typeOf(item) !== "function_call") continue;
    const place = `input[${index}]`;
    if (!textOf(item.call_id)) yield `Missing required parameter: '${place}.call_id'.`;
    if (typeof item.arguments !== "string")
      yield `Missing required parameter: '${place}.arguments'.`;
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(textOf(item.name))) {
      yield badName(`${place}.name`);
    }
  }
}

function* pairs(request: RuleRequest): Generator<string> {
  const items = itemsOf(request);
  const of = (type: string): string[] =>
    items.filter((item) => typeOf(item) === type).map(({ call_id: id }) => textOf(id));
  const [asked, answered] = [of("function_call"), of("function_call_output")];
  for (const id of asked) {
    if (!answered.includes(id)) yield `No tool output found for function call ${id}.`;
  }
  for (const id of answered) {
    if (!asked.includes(id))
      yield `No tool call found for function call output with call_id ${id}.`;
  }
  for (const id of repeated(asked)) yield `Duplicate function call with call_id ${id}.`;
  for (const id of repeated(answered)) yield `Duplicate function call output with call_id ${id}.`;
}

function* reasoning(request: RuleRequest): Generator<string> {
  const items = itemsOf(request);
  for (const [index, item] of items.entries()) {
    if (typeOf(item) !== "reasoning") continue;
    if (!Array.isArray(item.summary))
      yield `Missing required parameter: 'input[${index}].summary'.`;
    const hasSummary = Array.isArray(item.summary) && item.summary.length > 0;
    const isWhole = item.encrypted_content || hasSummary || Array.isArray(item.content);
    if (request.body.store === false && !isWhole) {
      yield `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;
    }
    const next = items.slice(index + 1).find((other) => typeOf(other) !== "reasoning");
    const isFollowed =
      next !== undefined && (typeOf(next) === "function_call" || next.role === "assistant");
    if (!isFollowed) {
      yield `Item '${item.id}' of type 'reasoning' was provided without its required following item.`;
    }
  }
}

function* tools(request: RuleRequest): Generator<string> {
  const added = itemsOf(request).filter(({ type }) => type === "additional_tools");
  const list = [request.body, ...added].flatMap((place) => [...listOf(place.tools)]);
  for (const [index, tool] of list.entries()) {
    if (tool.type === "function") yield* functionFaults(tool, `tools[${index}]`);
  }
  yield* sameNames(list);
}

function* settings({ body }: RuleRequest): Generator<string> {
  const { effort } = objectOf(body.reasoning);
  if (effort !== undefined && effort !== null && typeof effort !== "string") {
    yield "Invalid type for 'reasoning.effort': expected a string.";
  }
}

function* output({ body }: RuleRequest): Generator<string> {
  const { format } = objectOf(body.text);
  if (format === undefined) return;
  const { type } = objectOf(format);
  yield* replyFormFaults(type, objectOf(format), "text.format");
}

export const responsesRules = rulesOf("openai-responses", {
  required,
  content,
  ids,
  calls,
  pairs,
  reasoning,
  tools,
  settings,
  output,
});
