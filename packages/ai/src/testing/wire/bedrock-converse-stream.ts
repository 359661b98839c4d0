import type { AssistantContent, UserContent } from "@tau-agent/rpc-protocol/messages";
import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { Delta } from "../../provider.ts";
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
  createWriter: (head) => new Writer(head),
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

class Writer implements ReplyWriter {
  readonly #head: ReplyHead;
  #index = -1;
  #isOpen = false;

  constructor(head: ReplyHead) {
    this.#head = head;
  }

  start(): string {
    return event("messageStart", { role: "assistant" });
  }

  write(delta: Delta): string {
    switch (delta.type) {
      case "text":
        return this.#delta({ text: delta.text });
      case "thinking":
        return this.#delta({ reasoningContent: { text: delta.text } });
      case "signature":
        return this.#delta({ reasoningContent: { signature: delta.signature } });
      case "tool_call": {
        const { id, name, arguments: json } = delta;
        const opening = this.#isOpen ? "" : this.#start({ toolUse: { toolUseId: id, name } });
        return json === undefined ? opening : opening + this.#delta({ toolUse: { input: json } });
      }
      case "block_end":
        if (!this.#isOpen) return "";
        this.#isOpen = false;
        return event("contentBlockStop", { contentBlockIndex: this.#index });
      case "stop":
        return this.#stop(delta.reason);
      default:
        return "";
    }
  }

  error(message: string, code: string | undefined): string {
    const name = code?.endsWith("Exception") ? code : "serviceUnavailableException";
    return event(`${name.charAt(0).toLowerCase()}${name.slice(1)}`, { message });
  }

  /** Blocks of text and thinking have no event that begins them. */
  #begin(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#index++;
  }

  #start(start: object): string {
    this.#begin();
    return event("contentBlockStart", { contentBlockIndex: this.#index, start });
  }

  #delta(delta: object): string {
    this.#begin();
    return event("contentBlockDelta", { contentBlockIndex: this.#index, delta });
  }

  #stop(reason: string): string {
    const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = this.#head.usage;
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
}

function event(name: string, members: object): string {
  return serverSentEvent(JSON.stringify(members), name);
}
