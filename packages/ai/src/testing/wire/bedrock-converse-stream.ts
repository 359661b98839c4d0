import type { AssistantContent, UserContent } from "@tau-agent/rpc-protocol/messages";
import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import { stopWord } from "./anthropic-messages.ts";
import { Conversation, textBlock, toolOf } from "./conversation.ts";
import { toEventStream } from "./event-stream.ts";
import { listOf, objectOf, serverSentEvent, textOf } from "./json.ts";
import type { ReplyHead, ReplyWriter, WireFormat } from "./wire-format.ts";

export const bedrockConverseStreamWire: WireFormat = {
  api: "bedrock-converse-stream",
  contentType: "application/vnd.amazon.eventstream",
  toBytes: toEventStream,
  parse(body, path) {
    const request = objectOf(body);
    const model = decodeURIComponent(/\/model\/([^/]+)\//.exec(path)?.[1] ?? "");
    const conversation = new Conversation("bedrock-converse-stream", model);
    for (const { role, content } of listOf(request.messages)) {
      const blocks = listOf(content);
      if (role === "assistant") conversation.addAssistant(blocks.flatMap(assistantBlock));
      else addUserBlocks(conversation, blocks);
    }
    return {
      model,
      messages: conversation.messages,
      systemPrompt: listOf(request.system)
        .flatMap(({ text }) => (text === undefined ? [] : [textOf(text)]))
        .join("\n\n"),
      tools: listOf(objectOf(request.toolConfig).tools)
        .filter(({ toolSpec }) => toolSpec !== undefined)
        .map(({ toolSpec: spec }) => toolOf(spec, objectOf(objectOf(spec).inputSchema).json)),
    };
  },
  createWriter: (head) => bedrockWriter(head),
  errorBody: (status, message, code) => ({ __type: code ?? names[status] ?? "", message }),
  overflow: { message: "Input is too long for requested model.", code: "ValidationException" },
};

const names: Readonly<Record<number, string>> = {
  400: "ValidationException",
  403: "AccessDeniedException",
  404: "ResourceNotFoundException",
  408: "ModelTimeoutException",
  424: "ModelErrorException",
  429: "ThrottlingException",
  500: "InternalServerException",
  503: "ServiceUnavailableException",
};

function userBlock(block: JsonObject): UserContent[] {
  if (block.image === undefined) return textBlock(textOf(block.text));
  const { format, source } = objectOf(block.image);
  return [{ type: "image", data: textOf(objectOf(source).bytes), mimeType: `image/${format}` }];
}

function addUserBlocks(conversation: Conversation, blocks: readonly JsonObject[]): void {
  for (const block of blocks.filter(({ toolResult }) => toolResult !== undefined)) {
    const { toolUseId, content, status } = objectOf(block.toolResult);
    conversation.addToolResult({
      id: textOf(toolUseId),
      content: listOf(content).flatMap(userBlock),
      isError: status === "error",
    });
  }
  conversation.addUser(
    blocks.filter(({ toolResult }) => toolResult === undefined).flatMap(userBlock),
  );
}

function assistantBlock(block: JsonObject): AssistantContent[] {
  if (block.toolUse !== undefined) {
    const { toolUseId: id, name, input } = objectOf(block.toolUse);
    const args = { ...objectOf(input) };
    return [{ type: "toolCall", id: textOf(id), name: textOf(name), arguments: args }];
  }
  if (block.reasoningContent === undefined) return textBlock(textOf(block.text));
  const { text, signature } = objectOf(objectOf(block.reasoningContent).reasoningText);
  return [{ type: "thinking", thinking: textOf(text), thinkingSignature: textOf(signature) }];
}

function bedrockWriter(head: ReplyHead): ReplyWriter {
  let index = -1;
  let isOpen = false;

  /** Blocks of text and thinking have no start event. */
  function begin(): void {
    if (isOpen) return;
    isOpen = true;
    index++;
  }

  function start(start: object): string {
    begin();
    return event("contentBlockStart", { contentBlockIndex: index, start });
  }

  function deltaFrame(delta: object): string {
    begin();
    return event("contentBlockDelta", { contentBlockIndex: index, delta });
  }

  function stop(reason: string): string {
    const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = head.usage;
    const stopReason = stopWord(reason);
    const usage = {
      inputTokens: input,
      outputTokens: output,
      totalTokens: input + output + cacheRead + cacheWrite,
      cacheReadInputTokens: cacheRead,
      cacheWriteInputTokens: cacheWrite,
    };
    return (
      event("messageStop", { stopReason }) + event("metadata", { usage, metrics: { latencyMs: 1 } })
    );
  }

  return {
    start: () => event("messageStart", { role: "assistant" }),
    write(delta) {
      switch (delta.type) {
        case "text":
          return deltaFrame({ text: delta.text });
        case "thinking":
          return deltaFrame({ reasoningContent: { text: delta.text } });
        case "signature":
          return deltaFrame({ reasoningContent: { signature: delta.signature } });
        case "tool_call": {
          const { id, name, arguments: json } = delta;
          const opening = isOpen ? "" : start({ toolUse: { toolUseId: id, name } });
          return json === undefined ? opening : opening + deltaFrame({ toolUse: { input: json } });
        }
        case "block_end":
          if (!isOpen) return "";
          isOpen = false;
          return event("contentBlockStop", { contentBlockIndex: index });
        case "stop":
          return stop(delta.reason);
        default:
          return "";
      }
    },
    error(message, code) {
      const name = code?.endsWith("Exception") ? code : "serviceUnavailableException";
      return event(`${name.charAt(0).toLowerCase()}${name.slice(1)}`, { message });
    },
  };
}

function event(name: string, members: object): string {
  return serverSentEvent(JSON.stringify(members), name);
}
