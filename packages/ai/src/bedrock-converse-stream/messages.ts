import type {
  ContentBlock,
  ImageFormat,
  Message,
  ToolResultContentBlock,
} from "@aws-sdk/client-bedrock-runtime";
import type {
  AssistantContent,
  ImageContent,
  LlmMessage,
  ToolResultMessage,
  UserContent,
} from "@tau-agent/rpc-protocol/messages";
import { appendTurn, type Conversation, type Turn, turnsOf } from "../request/conversation.ts";
import { type DocumentSource, documentOf } from "../request/documents.ts";
import { Memo } from "../request/memo.ts";

export interface MessageRules {
  /** Whether tool results may contain images; other models get images after the results. */
  readonly hasImageResults: boolean;
  /** Whether thinking is sent back with its signature. */
  readonly takesThinking: boolean;
}

/**
 * Messages in Converse's format; the last one is always a user message. Adjacent messages of one role are
 * merged, with the results first: Bedrock requires all results right after their calls.
 */
export function encodeMessages(
  messages: readonly LlmMessage[],
  rules: MessageRules,
  memo: Memo = new Memo(),
): Message[] {
  const conversation = memo.fold<Conversation<ContentBlock>>(messages, {
    rules: ["bedrock-converse-stream", rules],
    start: () => ({ closed: [], open: undefined }),
    step: (turns, message) => appendTurn(turns, encodeTurn(message, rules)),
  });
  const all: Message[] = turnsOf(conversation);
  if (conversation.open?.role !== "user")
    all.push({ role: "user", content: [{ text: "Continue." }] });
  return all;
}

function encodeTurn(message: LlmMessage, rules: MessageRules): Turn<ContentBlock> {
  const role = message.role === "assistant" ? "assistant" : "user";
  const turn: Turn<ContentBlock> = { role, results: [], rest: [] };
  if (message.role === "toolResult") encodeResult(message, turn, rules);
  else if (message.role === "user") turn.rest.push(...encodeUser(message.content));
  else turn.rest.push(...message.content.flatMap((block) => encodeBlock(block, rules)));
  return turn;
}

function encodeUser(content: string | readonly UserContent[]): UserBlock[] {
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return blocks.flatMap((block): UserBlock[] => {
    if (block.type === "image") return [encodeImage(block)];
    const document = documentOf(block);
    if (document !== undefined) return encodeDocument(document);
    // Bedrock refuses text without visible characters.
    return block.text.trim() === "" ? [] : [{ text: block.text }];
  });
}

type TextBlock = ContentBlock.TextMember & ToolResultContentBlock.TextMember;
type ImageBlock = ContentBlock.ImageMember & ToolResultContentBlock.ImageMember;

type DocumentBlock = ContentBlock.DocumentMember & ToolResultContentBlock.DocumentMember;
type UserBlock = TextBlock | ImageBlock | DocumentBlock;

/** A file must be accompanied by text, and its name may contain only certain characters. */
function encodeDocument({ data, fileName }: DocumentSource): UserBlock[] {
  const name = fileName.replace(/[^A-Za-z0-9()[\]-]+/g, " ").trim() || "document";
  const source = { bytes: Buffer.from(data, "base64") };
  return [{ text: `File: ${fileName}` }, { document: { format: "pdf", name, source } }];
}

const formats: Readonly<Record<string, ImageFormat>> = {
  "image/jpeg": "jpeg",
  "image/jpg": "jpeg",
  "image/gif": "gif",
  "image/webp": "webp",
};

function encodeImage({ data, mimeType }: ImageContent): ImageBlock {
  const format = formats[mimeType.toLowerCase()] ?? "png";
  return { image: { format, source: { bytes: Buffer.from(data, "base64") } } };
}

/** Claude accepts only text in an error result, so its images and files follow the results. */
function encodeResult(
  { content: given, toolCallId, isError }: ToolResultMessage,
  turn: Turn<ContentBlock>,
  { hasImageResults }: MessageRules,
): void {
  const blocks = encodeUser(given);
  const text = blocks.filter((block) => block.text !== undefined);
  const images = blocks.filter((block) => block.text === undefined);
  if (text.length === 0) {
    text.push({ text: images.length > 0 ? "(see attached image)" : "(no output)" });
  }
  const hasImages = hasImageResults && !isError;
  const content = hasImages ? [...text, ...images] : text;
  turn.results.push({
    toolResult: { toolUseId: toolCallId, content, status: isError ? "error" : "success" },
  });
  if (!hasImages) turn.rest.push(...images);
}

function encodeBlock(block: AssistantContent, { takesThinking }: MessageRules): ContentBlock[] {
  switch (block.type) {
    case "text":
      return block.text.trim() === "" ? [] : [{ text: block.text }];
    case "thinking": {
      const { thinking: text, thinkingSignature: signature, redacted } = block;
      if (!takesThinking || !signature) return [];
      if (redacted) {
        return [{ reasoningContent: { redactedContent: Buffer.from(signature, "base64") } }];
      }
      return [{ reasoningContent: { reasoningText: { text, signature } } }];
    }
    case "toolCall": {
      const input = withoutEmptyKeys(block.arguments) as Document;
      return [{ toolUse: { toolUseId: block.id, name: block.name, input } }];
    }
  }
}

type Document = ContentBlock.ToolUseMember["toolUse"]["input"];

/** Bedrock refuses a document with an empty key. */
function withoutEmptyKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmptyKeys);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([name]) => name !== "");
  return Object.fromEntries(members.map(([name, member]) => [name, withoutEmptyKeys(member)]));
}
