import type { AssistantContent, UserContent } from "@tau-agent/rpc-protocol/messages";
import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { Delta } from "../../provider.ts";
import { Conversation, imageOfUrl, textBlock, textsOf, toolOf } from "./conversation.ts";
import { listOf, objectOf, parseArguments, serverSentEvent, textOf } from "./json.ts";
import type { ReplyHead, ReplyWriter, WireFormat } from "./wire-format.ts";

export const openaiCompletionsWire: WireFormat = {
  api: "openai-completions",
  parse(body) {
    const request = objectOf(body);
    const model = textOf(request.model);
    const conversation = new Conversation("openai-completions", model);
    let systemPrompt = "";
    const tools = [...listOf(request.tools)];
    for (const message of listOf(request.messages)) {
      if (message.role === "system" || message.role === "developer") {
        if (Array.isArray(message.tools)) tools.push(...listOf(message.tools));
        else systemPrompt = textsOf(message.content);
      } else addMessage(conversation, message);
    }
    return {
      model,
      messages: conversation.messages,
      systemPrompt,
      tools: tools.map((tool) => toolOf(tool.function, objectOf(tool.function).parameters)),
    };
  },
  createWriter: (head) => openaiCompletionsWriter(head),
  errorBody: openAiErrorBody,
  overflow: {
    message:
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 131337 tokens. Please reduce the length of the messages.",
    code: "context_length_exceeded",
  },
};

const errorTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "invalid_request_error",
  404: "invalid_request_error",
  429: "rate_limit_exceeded",
};

/** The error object of both OpenAI formats. */
export function openAiErrorBody(status: number, message: string, code?: string): unknown {
  const type = errorTypes[status] ?? "server_error";
  return { error: { message, type, param: null, code: code ?? null } };
}

function userContent(content: unknown): UserContent[] {
  if (typeof content === "string") return textBlock(content);
  return listOf(content).flatMap((part): UserContent[] =>
    part.type === "image_url"
      ? imageOfUrl(textOf(objectOf(part.image_url).url))
      : textBlock(textOf(part.text)),
  );
}

function addMessage(conversation: Conversation, message: JsonObject): void {
  if (message.role === "tool") {
    const content = userContent(message.content);
    conversation.addToolResult({ id: textOf(message.tool_call_id), content });
  } else if (message.role === "assistant") {
    conversation.addAssistant(assistantBlocks(message));
  } else conversation.addUser(userContent(message.content));
}

function assistantBlocks(message: JsonObject): AssistantContent[] {
  const thinking = textOf(message.reasoning_content);
  const calls = listOf(message.tool_calls).map((call): AssistantContent => {
    const { name, arguments: json } = objectOf(call.function);
    const id = textOf(call.id);
    return { type: "toolCall", id, name: textOf(name), arguments: parseArguments(json) };
  });
  return [
    ...(thinking === "" ? [] : [{ type: "thinking" as const, thinking }]),
    ...textBlock(textsOf(message.content)),
    ...calls,
  ];
}

function openaiCompletionsWriter(head: ReplyHead): ReplyWriter {
  const calls = new Map<string | number, number>();
  const { id, model } = head;
  const start = { id, object: "chat.completion.chunk", created: 0, model };
  const prefix = `data: ${JSON.stringify(start).slice(0, -1)},"choices":[{"index":0,"delta":`;

  function toolCall(delta: Extract<Delta, { type: "tool_call" }>): string {
    const known = calls.get(delta.key);
    const index = known ?? calls.size;
    if (known === undefined) calls.set(delta.key, index);
    const opening =
      known === undefined ? `"id":${JSON.stringify(delta.id)},"type":"function",` : "";
    const name = known === undefined ? `"name":${JSON.stringify(delta.name)},` : "";
    const json = JSON.stringify(delta.arguments ?? "");
    return chunk(
      `{"tool_calls":[{"index":${index},${opening}"function":{${name}"arguments":${json}}}]}`,
    );
  }

  function chunk(delta: string, finishReason: string | null = null): string {
    return `${prefix}${delta},"finish_reason":${JSON.stringify(finishReason)}}]}\n\n`;
  }

  function stop(reason: string): string {
    const { id, model, usage } = head;
    const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning } = usage;
    const prompt = input + cacheRead + cacheWrite;
    const last = {
      id,
      object: "chat.completion.chunk",
      created: 0,
      model,
      choices: [],
      usage: {
        prompt_tokens: prompt,
        completion_tokens: output,
        total_tokens: prompt + output,
        prompt_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
        ...(reasoning !== undefined && {
          completion_tokens_details: { reasoning_tokens: reasoning },
        }),
      },
    };
    const finish = chunk("{}", reason === "toolUse" ? "tool_calls" : reason);
    return `${finish}${serverSentEvent(JSON.stringify(last))}data: [DONE]\n\n`;
  }

  return {
    start: () => chunk('{"role":"assistant","content":""}'),
    write(delta) {
      switch (delta.type) {
        case "text":
          return chunk(`{"content":${JSON.stringify(delta.text)}}`);
        case "thinking":
          return chunk(`{"reasoning_content":${JSON.stringify(delta.text)}}`);
        case "tool_call":
          return toolCall(delta);
        case "stop":
          return stop(delta.reason);
        default:
          return "";
      }
    },
    error: (message, code) => serverSentEvent(JSON.stringify(openAiErrorBody(500, message, code))),
  };
}
