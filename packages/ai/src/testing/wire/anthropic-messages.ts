import type { AssistantContent, UserContent } from "@tau-agent/rpc-protocol/messages";
import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { TokenCounts } from "../../provider.ts";
import { Conversation, textBlock, textsOf, toolOf } from "./conversation.ts";
import { listOf, objectOf, serverSentEvent, textOf } from "./json.ts";
import type { ReplyHead, ReplyWriter, WireFormat } from "./wire-format.ts";

export const anthropicMessagesWire: WireFormat = {
  api: "anthropic-messages",
  parse(body) {
    const request = objectOf(body);
    const model = textOf(request.model);
    const conversation = new Conversation("anthropic-messages", model);
    for (const message of listOf(request.messages)) {
      if (message.role === "assistant") conversation.addAssistant(assistantBlocks(message.content));
      else addUserBlocks(conversation, message.content);
    }
    return {
      model,
      messages: conversation.messages,
      systemPrompt: textsOf(request.system, "\n\n"),
      tools: listOf(request.tools).map((tool) => toolOf(tool, tool.input_schema)),
    };
  },
  createWriter: (head) => anthropicWriter(head),
  errorBody: (status, message, code) => ({
    type: "error",
    error: { type: code ?? errorTypes[status] ?? "api_error", message },
  }),
  overflow: { message: "prompt is too long: 213462 tokens > 200000 maximum" },
};

const errorTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

function userContent(value: unknown): UserContent[] {
  if (typeof value === "string") return textBlock(value);
  return listOf(value).flatMap(userBlock);
}

function userBlock(block: JsonObject): UserContent[] {
  if (block.type === "text") return textBlock(textOf(block.text));
  if (block.type !== "image") return [];
  const source = objectOf(block.source);
  return [{ type: "image", data: textOf(source.data), mimeType: textOf(source.media_type) }];
}

function addUserBlocks(conversation: Conversation, content: unknown): void {
  const blocks = typeof content === "string" ? [] : listOf(content);
  for (const block of blocks.filter(({ type }) => type === "tool_result")) {
    conversation.addToolResult({
      id: textOf(block.tool_use_id),
      content: userContent(block.content),
      isError: block.is_error === true,
    });
  }
  conversation.addUser(userContent(content));
}

function assistantBlocks(content: unknown): AssistantContent[] {
  if (typeof content === "string") return textBlock(content);
  return listOf(content).flatMap((block): AssistantContent[] => {
    if (block.type === "text") return textBlock(textOf(block.text));
    if (block.type === "thinking") {
      const thinkingSignature = textOf(block.signature);
      return [{ type: "thinking", thinking: textOf(block.thinking), thinkingSignature }];
    }
    if (block.type !== "tool_use") return [];
    const { id, name, input } = block;
    return [
      { type: "toolCall", id: textOf(id), name: textOf(name), arguments: { ...objectOf(input) } },
    ];
  });
}

function anthropicWriter(head: ReplyHead): ReplyWriter {
  let index = -1;
  let isOpen = false;

  function open(content_block: object): string {
    if (isOpen) return "";
    isOpen = true;
    index++;
    return event("content_block_start", { index, content_block });
  }

  // Assembled manually, because this is the hot path of long streams.
  function deltaEvent(
    kind: "text" | "thinking" | "input_json" | "signature",
    value: string,
  ): string {
    const member = kind === "input_json" ? "partial_json" : kind;
    return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${kind}_delta","${member}":${JSON.stringify(value)}}}\n\n`;
  }

  function stop(reason: string): string {
    const stop_reason = stopWord(reason);
    const usage = { output_tokens: head.usage.output ?? 0 };
    return (
      event("message_delta", { delta: { stop_reason, stop_sequence: null }, usage }) +
      event("message_stop", {})
    );
  }

  return {
    start() {
      const { id, model, usage } = head;
      return event("message_start", {
        message: {
          id,
          type: "message",
          role: "assistant",
          model,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: {
            input_tokens: usage.input ?? 0,
            cache_creation_input_tokens: usage.cacheWrite ?? 0,
            cache_read_input_tokens: usage.cacheRead ?? 0,
            ...(usage.cacheWrite1h !== undefined && { cache_creation: creation(usage) }),
            output_tokens: 1,
          },
        },
      });
    },
    write(delta) {
      switch (delta.type) {
        case "text":
          return open({ type: "text", text: "" }) + deltaEvent("text", delta.text);
        case "thinking":
          return (
            open({ type: "thinking", thinking: "", signature: "" }) +
            deltaEvent("thinking", delta.text)
          );
        case "tool_call": {
          const { id, name, arguments: json } = delta;
          const opening = open({ type: "tool_use", id, name, input: {} });
          return json === undefined ? opening : opening + deltaEvent("input_json", json);
        }
        case "signature":
          return deltaEvent("signature", delta.signature);
        case "block_end":
          if (!isOpen) return "";
          isOpen = false;
          return event("content_block_stop", { index });
        case "stop":
          return stop(delta.reason);
        default:
          return "";
      }
    },
    error: (message, code) =>
      event("error", { error: { type: code ?? "overloaded_error", message } }),
  };
}

/** The stop reason in the terms of Anthropic and Amazon Bedrock. */
export function stopWord(reason: string): string {
  return reason === "toolUse" ? "tool_use" : reason === "length" ? "max_tokens" : "end_turn";
}

/** Cache writes by lifetime. */
function creation({ cacheWrite = 0, cacheWrite1h = 0 }: TokenCounts): object {
  return {
    ephemeral_5m_input_tokens: cacheWrite - cacheWrite1h,
    ephemeral_1h_input_tokens: cacheWrite1h,
  };
}

function event(type: string, members: object): string {
  return serverSentEvent(JSON.stringify({ type, ...members }), type);
}
