import type {
  ContentBlockParam,
  DocumentBlockParam,
  ImageBlockParam,
  TextBlockParam,
} from "@anthropic-ai/sdk/resources/messages";
import type {
  AssistantContent,
  ImageContent,
  LlmMessage,
  ToolResultMessage,
  UserContent,
} from "@tau-agent/rpc-protocol/messages";
import { type MarkRules, markedPlaces } from "../request/cache-marks.ts";
import { appendTurn, type Conversation, type Turn, turnsOf } from "../request/conversation.ts";
import { type DocumentSource, documentOf } from "../request/documents.ts";
import { Memo } from "../request/memo.ts";
import type { TurnParam, WireMessage } from "./wire-types.ts";

export interface MessageRules {
  /** Some compatible servers do not sign thinking but still expect it back. */
  readonly allowsEmptySignature: boolean;
}

/** Messages in the vendor's format; the last one is always a user message. */
export interface EncodedTurns {
  readonly turns: readonly TurnParam[];
  /** The last turn was added, because newer models refuse to continue a reply of their own. */
  readonly isContinued: boolean;
}

/**
 * Adjacent messages of one role are merged, with the tool results first: the vendor requires all results
 * right after their calls.
 */
export function encodeTurns(
  messages: readonly LlmMessage[],
  rules: MessageRules,
  memo: Memo = new Memo(),
): EncodedTurns {
  const conversation = memo.fold<Conversation<ContentBlockParam>>(messages, {
    rules: ["anthropic-messages", rules.allowsEmptySignature],
    start: () => ({ closed: [], open: undefined }),
    step: (turns, message) => appendTurn(turns, encodeTurn(message, rules)),
  });
  const turns = turnsOf(conversation);
  if (conversation.open?.role === "user") return { turns, isContinued: false };
  const goOn: TurnParam = { role: "user", content: [{ type: "text", text: "Continue." }] };
  return { turns: [...turns, goOn], isContinued: true };
}

type CacheMark = Pick<TextBlockParam, "cache_control">;

/** The messages with cache marks. */
export function withCacheMarks(messages: readonly WireMessage[], cache: CacheMark): WireMessage[] {
  const marked = [...messages];
  if (cache.cache_control === undefined) return marked;
  for (const { message: at, block } of markedPlaces(messages, markRules)) {
    const message = marked[at];
    if (message === undefined || message.role === "system" || typeof message.content === "string")
      continue;
    const content = message.content.map((each, index) =>
      index === block && canMark(each) ? { ...each, ...cache } : each,
    );
    marked[at] = { role: message.role, content };
  }
  return marked;
}

const markRules: MarkRules<WireMessage> = {
  isRead: ({ role }) => (role === "system" ? undefined : role === "user"),
  marks: ({ role, content }) => {
    if (content === undefined || typeof content === "string") return [false];
    const blocks: readonly { readonly type: string }[] = content;
    return blocks.map((block) => role !== "system" && canMark(block));
  },
};

function encodeTurn(message: LlmMessage, rules: MessageRules): Turn<ContentBlockParam> {
  const role = message.role === "assistant" ? "assistant" : "user";
  const turn: Turn<ContentBlockParam> = { role, results: [], rest: [] };
  if (message.role === "toolResult") encodeResult(message, turn);
  else if (message.role === "user") turn.rest.push(...encodeUser(message.content));
  else turn.rest.push(...message.content.flatMap((block) => encodeBlock(block, rules)));
  return turn;
}

function canMark({ type }: { readonly type: string }): boolean {
  return type !== "thinking" && type !== "redacted_thinking";
}

type UserBlockParam = TextBlockParam | ImageBlockParam | DocumentBlockParam;

function encodeUser(content: string | readonly UserContent[]): UserBlockParam[] {
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return blocks.flatMap((block): UserBlockParam[] => {
    if (block.type === "image") return [encodeImage(block)];
    const document = documentOf(block);
    if (document !== undefined) return [encodeDocument(document)];
    // The vendor refuses text blocks without visible characters.
    return block.text.trim() === "" ? [] : [{ type: "text", text: block.text }];
  });
}

function encodeDocument({ data, mimeType, fileName }: DocumentSource): DocumentBlockParam {
  return {
    type: "document",
    source: { type: "base64", media_type: mimeType, data },
    title: fileName,
  };
}

type MediaType = "image/jpeg" | "image/png" | "image/gif" | "image/webp";

function encodeImage({ data, mimeType }: ImageContent): ImageBlockParam {
  const known: Readonly<Record<string, MediaType>> = {
    "image/jpeg": "image/jpeg",
    "image/jpg": "image/jpeg",
    "image/gif": "image/gif",
    "image/webp": "image/webp",
  };
  const mediaType = known[mimeType.toLowerCase()] ?? "image/png";
  return { type: "image", source: { type: "base64", media_type: mediaType, data } };
}

/** An error result may contain only text, so its images and files follow the results. */
function encodeResult(message: ToolResultMessage, turn: Turn<ContentBlockParam>): void {
  const blocks = encodeUser(message.content);
  const text = blocks.filter((block) => block.type === "text");
  const images = blocks.filter((block) => block.type !== "text");
  if (text.length === 0) {
    const note = images.length > 0 ? "(see attached image)" : "(no output)";
    text.push({ type: "text", text: note });
  }
  turn.results.push({
    type: "tool_result",
    tool_use_id: message.toolCallId,
    content: message.isError ? text : [...text, ...images],
    ...(message.isError && { is_error: true }),
  });
  if (message.isError) turn.rest.push(...images);
}

function encodeBlock(block: AssistantContent, rules: MessageRules): ContentBlockParam[] {
  switch (block.type) {
    case "text":
      return block.text.trim() === "" ? [] : [{ type: "text", text: block.text }];
    case "thinking": {
      const { thinking, thinkingSignature: signature, redacted } = block;
      if (redacted) return signature ? [{ type: "redacted_thinking", data: signature }] : [];
      if (!signature && !rules.allowsEmptySignature) return [];
      return [{ type: "thinking", thinking, signature: signature ?? "" }];
    }
    case "toolCall":
      return [{ type: "tool_use", id: block.id, name: block.name, input: block.arguments }];
  }
}
