import { type JsonObject, parseObject } from "@tau-agent/rpc-protocol/plain";
import { listOf, objectOf, textOf } from "../wire/json.ts";
import { isFilledList, messagesOf, repeated, unknownMembers } from "./common.ts";
import { badName, emptyList, functionFaults, isImageUrl, sameNames } from "./openai-functions.ts";
import { replyFormFaults } from "./output-form.ts";
import { type RuleRequest, rulesOf } from "./rule.ts";

/** OpenAI's own members, and those documented by other servers of the format. */
const members: ReadonlySet<string> = new Set([
  ...["model", "messages", "tools", "tool_choice", "parallel_tool_calls", "stream"],
  ...["stream_options", "store", "metadata", "max_tokens", "max_completion_tokens", "temperature"],
  ...["top_p", "n", "stop", "seed", "user", "logit_bias", "logprobs", "top_logprobs"],
  ...["presence_penalty", "frequency_penalty", "response_format", "reasoning_effort", "verbosity"],
  ...["service_tier", "prompt_cache_key", "prompt_cache_retention", "safety_identifier"],
  ...["modalities", "audio", "prediction", "web_search_options", "functions", "function_call"],
  // OpenRouter, Vercel, DeepSeek, Z.ai, Qwen, vLLM, Baseten.
  ...["provider", "providerOptions", "reasoning", "thinking", "tool_stream", "enable_thinking"],
  ...["chat_template_kwargs", "chat_template_args", "thinking_budget", "thinking_token_budget"],
  ...["priority", "top_k", "min_p", "repetition_penalty"],
]);

const roles: ReadonlySet<string> = new Set([
  ...["system", "developer", "user", "assistant", "tool", "function"],
]);
const partTypes: ReadonlySet<string> = new Set(["text", "image_url", "input_audio", "file"]);
const maxIdLength = 40;

function* required({ body }: RuleRequest): Generator<string> {
  for (const name of unknownMembers(body, members)) {
    yield `Unrecognized request argument supplied: ${name}`;
  }
  if (!textOf(body.model)) yield "you must provide a model parameter";
  if (!isFilledList(body.messages)) yield emptyList("messages");
}

function* content(request: RuleRequest): Generator<string> {
  for (const [index, message] of messagesOf(request).entries()) {
    const place = `messages[${index}]`;
    const role = textOf(message.role);
    if (!roles.has(role))
      yield `Invalid value: '${role}'. Supported values are: ${[...roles].join(", ")}.`;
    const { content: given } = message;
    const mayBeNull = role === "assistant" && message.tool_calls !== undefined;
    if (role === "system" && isFilledList(message.tools)) continue;
    if (given === null || given === undefined) {
      if (!mayBeNull) yield `Invalid value for 'content': expected a string, got null. (${place})`;
      continue;
    }
    if (typeof given === "string") continue;
    if (!isFilledList(given)) yield emptyList(`${place}.content`);
    for (const [at, part] of listOf(given).entries()) {
      yield* partFaults(part, role, `${place}.content[${at}]`);
    }
  }
}

function* partFaults(part: JsonObject, role: string, place: string): Generator<string> {
  const type = textOf(part.type);
  // In Mistral's format, thinking is part of an assistant's content.
  if (type === "thinking" && role === "assistant") return;
  if (!partTypes.has(type)) yield `Invalid value: '${type}'. (${place}.type)`;
  if (type === "text" && typeof part.text !== "string") {
    yield `Missing required parameter: '${place}.text'.`;
  }
  if (type !== "image_url") return;
  if (role !== "user") yield `Invalid '${place}': image_url is only supported by user messages.`;
  if (!isImageUrl(textOf(objectOf(part.image_url).url))) {
    yield "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].";
  }
}

function* calls(request: RuleRequest): Generator<string> {
  const ids: string[] = [];
  for (const [index, { tool_calls: list }] of messagesOf(request).entries()) {
    if (list === undefined || list === null) continue;
    const place = `messages[${index}].tool_calls`;
    if (!isFilledList(list)) yield emptyList(place);
    for (const [at, call] of listOf(list).entries()) {
      const id = textOf(call.id);
      ids.push(id);
      if (id === "") yield `Missing required parameter: '${place}[${at}].id'.`;
      if (id.length > maxIdLength) {
        yield `Invalid '${place}[${at}].id': string too long. Expected a string with maximum length ${maxIdLength}, but got a string with length ${id.length} instead.`;
      }
      if (call.type !== "function") yield `Missing required parameter: '${place}[${at}].type'.`;
      const { name, arguments: json } = objectOf(call.function);
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(textOf(name))) {
        yield badName(`${place}[${at}].function.name`);
      }
      if (parseObject(textOf(json)) === undefined) {
        yield `Invalid '${place}[${at}].function.arguments': expected a string that holds a JSON object.`;
      }
    }
  }
  for (const id of repeated(ids)) yield `Duplicate tool_call id '${id}' in 'messages'.`;
}

function* pairs(request: RuleRequest): Generator<string> {
  let open: string[] = [];
  for (const [index, message] of messagesOf(request).entries()) {
    if (message.role === "tool") {
      const id = textOf(message.tool_call_id);
      if (!open.includes(id)) {
        yield `Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'. (messages[${index}])`;
      }
      open = open.filter((other) => other !== id);
      continue;
    }
    if (open.length > 0) yield unanswered(open);
    open = listOf(message.tool_calls).map(({ id }) => textOf(id));
  }
  if (open.length > 0) yield unanswered(open);
}

function unanswered(ids: readonly string[]): string {
  return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(", ")}`;
}

function* tools(request: RuleRequest): Generator<string> {
  // In Moonshot's format, messages with the role `system` may add tools.
  const lists = [request.body, ...messagesOf(request)].map(({ tools: list }) => listOf(list));
  const functions = lists.flatMap((list) => list.map((tool) => objectOf(tool.function)));
  for (const [index, tool] of functions.entries()) {
    yield* functionFaults(tool, `tools[${index}].function`);
  }
  yield* sameNames(functions);
}

function* output({ body }: RuleRequest): Generator<string> {
  const format = body.response_format;
  if (format === undefined) return;
  const { type, json_schema: given } = objectOf(format);
  yield* replyFormFaults(type, objectOf(given), "response_format.json_schema");
}

export const completionsRules = rulesOf("openai-completions", {
  required,
  content,
  calls,
  pairs,
  tools,
  output,
});
