import type {
  AssistantMessage,
  LlmMessage,
  Model,
  TextContent,
  ToolCall,
  ToolResultMessage,
  UserContent,
} from "@tau-agent/rpc-protocol/messages";
import type {
  ResponseFunctionToolCall,
  ResponseInputContent,
  ResponseInputItem,
  ResponseReasoningItem,
} from "openai/resources/responses/responses";
import { dataUrl, imageOnlyText, joinText } from "../openai/content.ts";
import { documentOf } from "../request/documents.ts";
import { Memo } from "../request/memo.ts";
import { boundedId, plainId } from "../request/short-id.ts";
import { readReasoningItem, readTextSignature } from "./signatures.ts";

const maxIdLength = 64;

/** Encodes our messages as input items, without the system prompt. */
export function encodeInput(
  messages: readonly LlmMessage[],
  model: Model,
  memo: Memo = new Memo(),
): ResponseInputItem[] {
  const { items } = memo.fold<Conversation>(messages, {
    rules: ["openai-responses", model.provider, model.api, model.id],
    start: () => ({ items: [], ids: new Set() }),
    step({ items, ids }, message, index) {
      if (message.role === "user") items.push(...userItems(message.content));
      else if (message.role === "toolResult") items.push(resultItem(message));
      else {
        const made = assistantItems(message, index, model);
        items.push(...made.flatMap((item) => withOwnId(item, ids)));
      }
    },
  });
  return [...items];
}

interface Conversation {
  readonly items: ResponseInputItem[];
  /** The ids of the items so far: the vendor refuses a request with duplicates. */
  readonly ids: Set<string>;
}

/** The item as a list to spread. Servers that restart their counter with each reply produce duplicate ids. */
function withOwnId(item: ResponseInputItem, ids: Set<string>): ResponseInputItem[] {
  const { id } = { id: undefined, ...item };
  if (typeof id !== "string") return [item];
  if (!ids.has(id)) {
    ids.add(id);
    return [item];
  }
  // Repeated thinking is dropped; a call gets no id, a message gets a new one.
  if (isReasoning(item)) return [];
  const { id: _, ...rest } = { id, ...item };
  if ("type" in item && item.type === "function_call") return [rest as ResponseFunctionToolCall];
  const other = freeId(id, ids);
  ids.add(other);
  return [{ ...item, id: other } as ResponseInputItem];
}

function freeId(id: string, ids: ReadonlySet<string>): string {
  for (let count = 2; ; count++) {
    const suffix = `_${count}`;
    const other = `${id.slice(0, maxIdLength - suffix.length)}${suffix}`;
    if (!ids.has(other)) return other;
  }
}

function userItems(content: string | readonly UserContent[]): ResponseInputItem[] {
  const parts =
    typeof content === "string"
      ? inputParts([{ type: "text", text: content }])
      : inputParts(content);
  return parts.length === 0 ? [] : [{ role: "user", content: parts }];
}

function inputParts(content: readonly UserContent[]): ResponseInputContent[] {
  return content.flatMap((block): ResponseInputContent[] => {
    if (block.type === "image") {
      return [{ type: "input_image", detail: "auto", image_url: dataUrl(block) }];
    }
    const document = documentOf(block);
    if (document !== undefined) {
      return [{ type: "input_file", filename: document.fileName, file_data: dataUrl(document) }];
    }
    return block.text === "" ? [] : [{ type: "input_text", text: block.text }];
  });
}

function resultItem(message: ToolResultMessage): ResponseInputItem {
  const hasImage = message.content.some((block) => block.type === "image" || documentOf(block));
  return {
    type: "function_call_output",
    call_id: splitToolCallId(message.toolCallId).callId,
    output: hasImage
      ? inputParts(message.content)
      : joinText(message.content) || imageOnlyText(message.content),
  };
}

function assistantItems(
  message: AssistantMessage,
  index: number,
  model: Model,
): ResponseInputItem[] {
  const isSame =
    message.model === model.id && message.provider === model.provider && message.api === model.api;

  const items = message.content.flatMap((block, at): ResponseInputItem[] => {
    switch (block.type) {
      case "text":
        return block.text === "" ? [] : [messageItem(block, `msg_${index}_${at}`)];
      case "toolCall":
        return [callItem(block, isSame)];
      case "thinking": {
        const item = readReasoningItem(block.thinkingSignature);
        return isReasoningItem(item) ? [{ ...item, id: itemId(item.id, "rs_") }] : [];
      }
      default:
        return block satisfies never;
    }
  });
  // The vendor refuses a reasoning item that nothing follows.
  while (isReasoning(items.at(-1))) items.pop();
  return items;
}

function isReasoning(item: ResponseInputItem | undefined): boolean {
  return item !== undefined && "type" in item && item.type === "reasoning";
}

/** An item without summary or encrypted content is useless, because nothing is stored under its id. */
function isReasoningItem(item: Record<string, unknown> | undefined): item is ReasoningItem {
  if (item === undefined || typeof item.id !== "string" || !Array.isArray(item.summary))
    return false;
  return Boolean(item.encrypted_content) || item.summary.length > 0 || Array.isArray(item.content);
}

type ReasoningItem = ResponseReasoningItem & Record<string, unknown>;

function messageItem(block: TextContent, fallbackId: string): ResponseInputItem {
  const signature = readTextSignature(block.textSignature);
  const id = signature?.id ?? fallbackId;
  return {
    type: "message",
    role: "assistant",
    id: itemId(id, "msg_"),
    status: "completed",
    content: [{ type: "output_text", text: block.text, annotations: [] }],
    ...(signature?.phase && { phase: signature.phase }),
  };
}

/** The item id is meaningful only to the model that created it. */
function callItem(call: ToolCall, isSame: boolean): ResponseFunctionToolCall {
  const { callId, itemId: id } = splitToolCallId(call.id);
  return {
    type: "function_call",
    ...(isSame && id !== undefined && { id }),
    call_id: callId,
    name: call.name,
    arguments: JSON.stringify(call.arguments),
  };
}

/** The two halves of `call_id|item_id`, each in a form that the vendor accepts. */
function splitToolCallId(id: string): { callId: string; itemId: string | undefined } {
  const at = id.indexOf("|");
  const call = at < 0 ? id : id.slice(0, at);
  const item = at < 0 ? "" : id.slice(at + 1);
  return {
    callId: withoutTail(boundedId(plainId(call), maxIdLength)),
    itemId: item.startsWith("fc_") ? itemId(item, "fc_") : undefined,
  };
}

/** Converts an id to an accepted one: `call_id|item_id` with two valid halves, or only the call id. */
export function normalizeToolCallId(id: string): string {
  const { callId, itemId: item } = splitToolCallId(id);
  return item === undefined ? callId : `${callId}|${item}`;
}

function itemId(id: string, prefix: string): string {
  const plain = plainId(id);
  const prefixed = plain.startsWith(prefix) ? plain : `${prefix}${plain}`;
  return withoutTail(boundedId(prefixed, maxIdLength));
}

/** The vendor refuses ids with trailing underscores. */
function withoutTail(id: string): string {
  return id.replace(/_+$/, "") || "call";
}
