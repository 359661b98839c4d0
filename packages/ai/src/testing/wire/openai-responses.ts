import type { AssistantContent, UserContent } from "@tau-agent/rpc-protocol/messages";
import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { BlockKey, Delta } from "../../provider.ts";
import { Conversation, imageOfUrl, textBlock, textsOf, toolOf } from "./conversation.ts";
import { listOf, objectOf, parseArguments, serverSentEvent, textOf } from "./json.ts";
import { openAiErrorBody } from "./openai-completions.ts";
import type { ReplyHead, ReplyWriter, WireFormat } from "./wire-format.ts";

export const openaiResponsesWire: WireFormat = {
  api: "openai-responses",
  parse(body) {
    const request = objectOf(body);
    const model = textOf(request.model);
    const conversation = new Conversation("openai-responses", model);
    let systemPrompt = textOf(request.instructions);
    const tools = [...listOf(request.tools)];
    for (const item of listOf(request.input)) {
      if (item.role === "system" || item.role === "developer") {
        if (item.type === "additional_tools") tools.push(...listOf(item.tools));
        else systemPrompt = textsOf(item.content);
      } else if (item.type !== "configuration_update") addItem(conversation, item);
    }
    return {
      model,
      messages: conversation.messages,
      systemPrompt,
      tools: tools.map((tool) => toolOf(tool, tool.parameters)),
    };
  },
  createWriter: (head) => new Writer(head),
  errorBody: openAiErrorBody,
  overflow: {
    message:
      "Your input exceeds the context window of this model. Please adjust your input and try again.",
    code: "context_length_exceeded",
  },
};

function userContent(content: unknown): UserContent[] {
  if (typeof content === "string") return textBlock(content);
  return listOf(content).flatMap((part): UserContent[] =>
    part.type === "input_image" ? imageOfUrl(textOf(part.image_url)) : textBlock(textOf(part.text)),
  );
}

function addItem(conversation: Conversation, item: JsonObject): void {
  if (item.type === "function_call_output") {
    const content = userContent(item.output);
    conversation.addToolResult({ id: textOf(item.call_id), content });
  } else if (
    item.type === "function_call" ||
    item.type === "reasoning" ||
    item.role === "assistant"
  ) {
    conversation.addAssistant(assistantBlocks(item));
  } else conversation.addUser(userContent(item.content));
}

function assistantBlocks(item: JsonObject): AssistantContent[] {
  if (item.type === "function_call") {
    const { call_id: id, name, arguments: json } = item;
    const call = { id: textOf(id), name: textOf(name), arguments: parseArguments(json) };
    return [{ type: "toolCall", ...call }];
  }
  if (item.type !== "reasoning") return textBlock(textsOf(item.content));
  const thinking = textsOf(item.summary);
  return [{ type: "thinking", thinking, thinkingSignature: textOf(item.encrypted_content) }];
}

interface OutputItem {
  readonly key: BlockKey;
  readonly index: number;
  readonly id: string;
  readonly type: "message" | "reasoning" | "function_call";
  readonly callId: string;
  readonly name: string;
  readonly texts: string[];
  signature: string | undefined;
}

class Writer implements ReplyWriter {
  readonly #head: ReplyHead;
  readonly #done: object[] = [];
  #open: OutputItem | undefined;
  #sequence = 0;

  constructor(head: ReplyHead) {
    this.#head = head;
  }

  start(): string {
    const response = this.#response("in_progress", null);
    return (
      this.#event("response.created", { response }) +
      this.#event("response.in_progress", { response })
    );
  }

  write(delta: Delta): string {
    switch (delta.type) {
      case "text":
        return this.#grow(delta.key, "message", delta.text, "response.output_text.delta");
      case "thinking":
        return this.#grow(
          delta.key,
          "reasoning",
          delta.text,
          "response.reasoning_summary_text.delta",
        );
      case "tool_call": {
        const opening = this.#begin(delta.key, "function_call", delta);
        if (delta.arguments === undefined) return opening;
        return opening + this.#delta("response.function_call_arguments.delta", delta.arguments);
      }
      case "signature":
        if (this.#open !== undefined) this.#open.signature = delta.signature;
        return "";
      case "block_end":
        return this.#end();
      case "stop":
        return this.#stop(delta.reason);
      default:
        return "";
    }
  }

  error(message: string, code: string | undefined): string {
    return this.#event("error", { code: code ?? "server_error", message, param: null });
  }

  #grow(key: BlockKey, type: OutputItem["type"], text: string, event: string): string {
    return this.#begin(key, type) + this.#delta(event, text);
  }

  // Assembled manually, because this is the hot path of long streams.
  #delta(type: string, delta: string): string {
    if (this.#open === undefined) return "";
    this.#open.texts.push(delta);
    const { id, index, type: kind } = this.#open;
    const part =
      kind === "message"
        ? '"content_index":0,"logprobs":[],'
        : kind === "reasoning"
          ? '"summary_index":0,'
          : "";
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#sequence++},"item_id":"${id}","output_index":${index},${part}"delta":${JSON.stringify(delta)}}\n\n`;
  }

  #begin(
    key: BlockKey,
    type: OutputItem["type"],
    call: { id?: string; name?: string } = {},
  ): string {
    if (this.#open?.key === key) return "";
    const index = this.#done.length;
    const prefix = type === "message" ? "msg" : type === "reasoning" ? "rs" : "fc";
    const { id: callId = "", name = "" } = call;
    const id = `${prefix}_${this.#head.id}_${index}`;
    const item = { key, index, id, type, callId, name, texts: [], signature: undefined };
    this.#open = item;
    const added = this.#event("response.output_item.added", {
      output_index: index,
      item: finished(item, "in_progress"),
    });
    const at = { item_id: id, output_index: index };
    if (type === "message") {
      const part = { type: "output_text", text: "", annotations: [] };
      return added + this.#event("response.content_part.added", { ...at, content_index: 0, part });
    }
    if (type !== "reasoning") return added;
    const part = { type: "summary_text", text: "" };
    return (
      added +
      this.#event("response.reasoning_summary_part.added", { ...at, summary_index: 0, part })
    );
  }

  #end(): string {
    const open = this.#open;
    if (open === undefined) return "";
    this.#open = undefined;
    const item = finished(open, "completed");
    this.#done.push(item);
    const at = { item_id: open.id, output_index: open.index };
    const whole = open.texts.join("");
    const done =
      open.type === "function_call"
        ? this.#event("response.function_call_arguments.done", { ...at, arguments: whole })
        : open.type === "message"
          ? this.#event("response.output_text.done", { ...at, content_index: 0, text: whole })
          : this.#event("response.reasoning_summary_text.done", {
              ...at,
              summary_index: 0,
              text: whole,
            });
    return done + this.#event("response.output_item.done", { output_index: open.index, item });
  }

  #stop(reason: string): string {
    const isCut = reason === "length";
    const status = isCut ? "incomplete" : "completed";
    const {
      input = 0,
      output = 0,
      cacheRead = 0,
      cacheWrite = 0,
      reasoning = 0,
    } = this.#head.usage;
    const prompt = input + cacheRead + cacheWrite;
    const response = this.#response(status, {
      input_tokens: prompt,
      input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: prompt + output,
    });
    const details = isCut ? { incomplete_details: { reason: "max_output_tokens" } } : {};
    return this.#event(`response.${status}`, { response: { ...response, ...details } });
  }

  #response(status: string, usage: object | null): object {
    const { id, model } = this.#head;
    const base = { id: `resp_${id}`, object: "response", created_at: 0, model, status };
    return { ...base, error: null, incomplete_details: null, output: this.#done, usage };
  }

  #event(type: string, members: object): string {
    const data = { type, sequence_number: this.#sequence++, ...members };
    return serverSentEvent(JSON.stringify(data), type);
  }
}

function finished(item: OutputItem, status: "in_progress" | "completed"): object {
  const { id, type, texts, signature } = item;
  const whole = texts.join("");
  if (type === "function_call") {
    return { id, type, status, call_id: item.callId, name: item.name, arguments: whole };
  }
  if (type === "message") {
    const content = whole === "" ? [] : [{ type: "output_text", text: whole, annotations: [] }];
    return { id, type, status, role: "assistant", content };
  }
  const summary = whole === "" ? [] : [{ type: "summary_text", text: whole }];
  return { id, type, summary, ...(signature !== undefined && { encrypted_content: signature }) };
}
