import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { listOf, objectOf, textOf } from "../wire/json.ts";
import { unknownMembers } from "./common.ts";
import { type RuleRequest, rulesOf } from "./rule.ts";

const members: ReadonlySet<string> = new Set([
  ...["model", "messages", "tools", "tool_choice", "parallel_tool_calls", "stream", "temperature"],
  ...["top_p", "max_tokens", "stop", "random_seed", "metadata", "response_format", "n"],
  ...["presence_penalty", "frequency_penalty", "prediction", "prompt_mode", "reasoning_effort"],
  ...["guardrails", "prompt_cache_key", "safe_prompt"],
]);

const idForm = /^[a-zA-Z0-9]{9}$/;
const mostImages = 8;

function* required({ body }: RuleRequest): Generator<string> {
  for (const name of unknownMembers(body, members)) {
    yield `Extra inputs are not permitted: ${name}`;
  }
}

function* ids({ body }: RuleRequest): Generator<string> {
  for (const message of listOf(body.messages)) {
    const own = listOf(message.tool_calls).map(({ id }) => textOf(id));
    const answered = message.role === "tool" ? [textOf(message.tool_call_id)] : [];
    for (const id of [...own, ...answered]) {
      if (!idForm.test(id)) {
        yield `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`;
      }
    }
  }
}

function* content({ body }: RuleRequest): Generator<string> {
  let images = 0;
  for (const { role, content: given, tool_calls: calls } of listOf(body.messages)) {
    const parts = listOf(given);
    images += parts.filter(({ type }) => type === "image_url").length;
    if (role !== "assistant") continue;
    const isEmpty = given === null || given === undefined || given === "";
    if (isEmpty && listOf(calls).length === 0) {
      yield "Assistant message must have either content or tool_calls, but not none.";
    }
    const at = parts.map(({ type }) => type === "thinking");
    if (at.lastIndexOf(true) > 0) yield "Expected at most one leading ThinkChunk.";
    for (const part of parts.filter(({ type }) => type === "thinking")) {
      if (!listOf(part.thinking).some(isJsonObject)) yield "thinking: Field required";
    }
  }
  if (images > mostImages) yield `Too many images in request. The maximum is ${mostImages}.`;
}

export const mistralRules = rulesOf("mistral-conversations", {
  required,
  ids,
  content,
});

/** The request in the form of chat completions: without tool names in the results. */
export function toCompletions(request: RuleRequest): RuleRequest {
  const messages = listOf(request.body.messages).map((message) =>
    message.role === "tool" ? objectOf({ ...message, name: undefined }) : message,
  );
  return { ...request, body: { ...request.body, messages } };
}
