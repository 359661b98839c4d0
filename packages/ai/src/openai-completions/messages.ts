import type {
  AssistantMessage,
  LlmMessage,
  ToolCall,
  ToolResultMessage,
  UserContent,
} from "@tau-agent/rpc-protocol/messages";
import { contentText, parseJson } from "@tau-agent/rpc-protocol/plain";
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionMessageParam,
  ChatCompletionMessageToolCall,
  ChatCompletionToolMessageParam,
} from "openai/resources/chat/completions";
import { dataUrl, imageOnlyText, joinText } from "../openai/content.ts";
import { documentOf } from "../request/documents.ts";
import { Memo } from "../request/memo.ts";
import { boundedId, hashText, plainId } from "../request/short-id.ts";
import type { CompletionsCompat } from "./compat.ts";

/** What encoding the messages requires to know about their request. */
export interface MessageRules {
  readonly compat: CompletionsCompat;
  /** Whether this request asks the model to think. */
  readonly isThinking: boolean;
}

/** Encodes our messages in the vendor's format, without the system prompt. */
export function encodeMessages(
  messages: readonly LlmMessage[],
  rules: MessageRules,
  memo: Memo = new Memo(),
): ChatCompletionMessageParam[] {
  const { encoded, images, isAfterToolResult } = memo.fold<Conversation>(messages, {
    rules: ["openai-completions", rules],
    start: () => ({ encoded: [], images: [], isAfterToolResult: false }),
    step: (conversation, message) => addMessage(conversation, message, rules),
  });
  const all = { encoded: [...encoded], images, isAfterToolResult };
  addImages(all, rules);
  return all.encoded;
}

/** The messages so far, and what the next message must begin with. */
interface Conversation {
  readonly encoded: ChatCompletionMessageParam[];
  /** Images of the tool results since the last other message. */
  images: ChatCompletionContentPart[];
  isAfterToolResult: boolean;
}

function addMessage(conversation: Conversation, message: LlmMessage, rules: MessageRules): void {
  if (message.role === "toolResult") {
    // Tool messages contain only text: the images of consecutive results follow as one user message.
    conversation.encoded.push(toolMessage(message, rules.compat));
    conversation.images.push(...imageParts(message.content));
    conversation.isAfterToolResult = true;
    return;
  }
  addImages(conversation, rules);
  if (message.role === "user") addBridge(conversation, rules);
  const next =
    message.role === "user" ? userMessage(message.content) : assistantMessage(message, rules);
  if (next === undefined) return;
  conversation.encoded.push(next);
  conversation.isAfterToolResult = false;
}

function addImages(conversation: Conversation, rules: MessageRules): void {
  if (conversation.images.length === 0) return;
  addBridge(conversation, rules);
  const heading = { type: "text" as const, text: imageHeading };
  conversation.encoded.push({ role: "user", content: [heading, ...conversation.images] });
  conversation.images = [];
  conversation.isAfterToolResult = false;
}

function addBridge({ encoded, isAfterToolResult }: Conversation, { compat }: MessageRules): void {
  if (!isAfterToolResult || !compat.requiresAssistantAfterToolResult) return;
  encoded.push({ role: "assistant", content: bridgeText });
}

const imageHeading = "Images from the tool results above:";
const bridgeText = "Noted the tool results.";

function userMessage(
  content: string | readonly UserContent[],
): ChatCompletionMessageParam | undefined {
  if (typeof content === "string") return { role: "user", content: content };
  const parts: ChatCompletionContentPart[] = [];
  for (const block of content) {
    const document = documentOf(block);
    if (block.type === "image")
      parts.push({ type: "image_url", image_url: { url: dataUrl(block) } });
    else if (document !== undefined) {
      const file = { filename: document.fileName, file_data: dataUrl(document) };
      parts.push({ type: "file", file });
    } else if (block.text !== "") parts.push({ type: "text", text: block.text });
  }
  const [first] = parts;
  if (first === undefined) return undefined;
  // A single text is sent as a plain string, because some servers nest or refuse parts.
  if (parts.length === 1 && first.type === "text") return { role: "user", content: first.text };
  return { role: "user", content: parts };
}

function imageParts(content: readonly UserContent[]): ChatCompletionContentPart[] {
  return content
    .filter((block) => block.type === "image")
    .map((block) => ({ type: "image_url", image_url: { url: dataUrl(block) } }));
}

function toolMessage(
  message: ToolResultMessage,
  compat: CompletionsCompat,
): ChatCompletionToolMessageParam & { name?: string } {
  return {
    role: "tool",
    content: joinText(message.content) || imageOnlyText(message.content),
    tool_call_id: toolCallId(message.toolCallId, compat),
    ...(compat.requiresToolResultName ? { name: message.toolName } : {}),
  };
}

type AssistantParts = Exclude<
  ChatCompletionAssistantMessageParam["content"],
  string | null | undefined
>;

/** Reasoning members are not part of OpenAI's own type. */
type AssistantParam = ChatCompletionAssistantMessageParam & Record<string, unknown>;

function assistantMessage(
  message: AssistantMessage,
  { compat, isThinking }: MessageRules,
): AssistantParam | undefined {
  const asksForReasoning = compat.requiresReasoningContentOnAssistantMessages && isThinking;
  const [first] = message.content;
  // A fast path for most replies, because a long conversation has many (row "100 000 entries: first request").
  const isText = message.content.length === 1 && first?.type === "text";
  if (isText && first.text !== "" && !asksForReasoning) {
    return { role: "assistant", content: first.text };
  }
  const calls = message.content.filter((block) => block.type === "toolCall");
  const reasoning = encodeThinking(message, compat);
  const text = [reasoning.asText, contentText(message.content)]
    .filter((part) => part !== "")
    .join("\n\n");
  if (text === "" && calls.length === 0) return undefined;
  const encoded: AssistantParam = {
    role: "assistant",
    content: contentOf(text, reasoning, compat),
  };
  Object.assign(encoded, reasoning.fields);
  if (calls.length > 0) encoded.tool_calls = calls.map((call) => encodeCall(call, compat));
  if (asksForReasoning) encoded.reasoning_content ??= "";
  return encoded;
}

function encodeCall(call: ToolCall, compat: CompletionsCompat): ChatCompletionMessageToolCall {
  const text = JSON.stringify(call.arguments);
  return {
    id: toolCallId(call.id, compat),
    type: "function",
    function: { name: call.name, arguments: text },
  };
}

const mistralId = /^[a-zA-Z0-9]{9}$/;

/** Applied to both a call and its result, so that they still match. */
function toolCallId(id: string, { toolCallIdFormat }: CompletionsCompat): string {
  const callId = normalizeToolCallId(id);
  if (toolCallIdFormat !== "mistral" || mistralId.test(callId)) return callId;
  return hashText(callId).slice(-9);
}

/** Converts a foreign id to an accepted one: the part before `|`, plain characters, at most 40. */
export function normalizeToolCallId(id: string): string {
  const [callId = ""] = id.split("|");
  return boundedId(plainId(callId), 40);
}

interface EncodedThinking {
  readonly asText: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Mistral: thinking comes first in the content, as a separate part. */
  readonly leading: string;
}

const none: EncodedThinking = { asText: "", fields: {}, leading: "" };

function encodeThinking(message: AssistantMessage, compat: CompletionsCompat): EncodedThinking {
  const blocks = message.content.filter((block) => block.type === "thinking");
  if (!compat.replaysThinking) return none;
  const text = blocks
    .map((block) => block.thinking)
    .filter((thinking) => thinking !== "")
    .join("\n\n");
  if (compat.requiresThinkingAsText) return { ...none, asText: text };
  const details = [
    ...blocks.flatMap((block) => parseDetails(block.thinkingSignature)),
    ...message.content.flatMap((block) =>
      block.type === "toolCall" ? parseDetails(block.thoughtSignature) : [],
    ),
  ];
  if (details.length > 0) return { ...none, fields: { reasoning_details: details } };
  const field = blocks.find((block) =>
    isReasoningField(block.thinkingSignature),
  )?.thinkingSignature;
  if (text === "") return none;
  if (field === contentSignature) return { ...none, leading: text };
  if (compat.requiresReasoningContentOnAssistantMessages) {
    return { ...none, fields: { reasoning_content: text } };
  }
  return field === undefined ? none : { ...none, fields: { [field]: text } };
}

/** The signature of thinking that arrived inside `content`. */
export const contentSignature = "content";

/** The members in which a reply's thinking arrives; the block's signature names the member used. */
export const reasoningFields = ["reasoning_content", "reasoning", "reasoning_text"] as const;

function isReasoningField(signature: string | undefined): boolean {
  return signature === contentSignature || reasoningFields.some((field) => field === signature);
}

/** Structured reasoning is stored as JSON: one detail, or the list for a whole reply. */
function parseDetails(signature: string | undefined): unknown[] {
  if (signature === undefined || !/^[[{]/.test(signature)) return [];
  const parsed = parseJson(signature, []);
  return Array.isArray(parsed) ? parsed : [parsed];
}

function contentOf(
  text: string,
  { leading }: EncodedThinking,
  compat: CompletionsCompat,
): string | AssistantParts | null {
  if (leading === "") {
    return text === "" && !compat.requiresNonNullAssistantContent ? null : text;
  }
  const thinking = { type: "thinking", thinking: [{ type: "text", text: leading }] };
  const parts: unknown[] = [thinking];
  if (text !== "") parts.push({ type: "text", text });
  // A part type that only Mistral has.
  return parts as AssistantParts;
}
