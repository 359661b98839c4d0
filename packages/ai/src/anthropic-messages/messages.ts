import type {
  ContentBlockParam,
  ImageBlockParam,
  MessageParam,
  TextBlockParam,
  ToolResultBlockParam,
} from "@anthropic-ai/sdk/resources/messages";
import type {
  AssistantContent,
  ImageContent,
  LlmMessage,
  ToolResultMessage,
  UserContent,
} from "@tau-agent/rpc-protocol/messages";
import { Memo } from "../memo.ts";

/** What the encoding of messages depends on. */
export interface MessageRules {
  /** Put on the last block of the last user message. */
  readonly cache: Pick<TextBlockParam, "cache_control">;
  /** Some compatible servers think without signing and want it back all the same. */
  readonly allowsEmptySignature: boolean;
}

type UserBlock = TextBlockParam | ImageBlockParam | ToolResultBlockParam;

interface Turn {
  readonly role: "user" | "assistant";
  readonly results: readonly ToolResultBlockParam[];
  readonly rest: readonly ContentBlockParam[];
}

/** A turn that its neighbours of the same role are still added to. */
interface OpenTurn extends Turn {
  readonly results: ToolResultBlockParam[];
  readonly rest: ContentBlockParam[];
}

/**
 * Messages in the vendor's shape. Neighbours of one role become one message, in which the tool
 * results stand first: the vendor wants all of them together right after their calls.
 */
export function encodeMessages(
  messages: readonly LlmMessage[],
  rules: MessageRules,
  memo: Memo = new Memo(),
): MessageParam[] {
  const recall = memo.under<Turn>(["anthropic-messages", rules.allowsEmptySignature]);
  const turns: OpenTurn[] = [];
  for (const message of messages)
    append(
      turns,
      recall(message, () => encodeTurn(message, rules)),
    );
  // Newer models refuse to continue a reply of their own.
  if (turns.at(-1)?.role !== "user") {
    append(turns, { role: "user", results: [], rest: [{ type: "text", text: "Continue." }] });
  }
  return turns.map(({ role, results, rest }, index) => {
    const content: ContentBlockParam[] = [...results, ...rest];
    const last = content.at(-1);
    if (index === turns.length - 1 && last !== undefined && isUserBlock(last)) {
      content[content.length - 1] = { ...last, ...rules.cache };
    }
    return { role, content };
  });
}

function encodeTurn(message: LlmMessage, rules: MessageRules): Turn {
  if (message.role === "toolResult") return { role: "user", ...encodeResult(message) };
  if (message.role === "user")
    return { role: "user", results: [], rest: encodeUser(message.content) };
  const rest = message.content.flatMap((block) => encodeBlock(block, rules));
  return { role: "assistant", results: [], rest };
}

function append(turns: OpenTurn[], turn: Turn): void {
  if (turn.results.length + turn.rest.length === 0) return;
  const last = turns.at(-1);
  if (last?.role !== turn.role) {
    turns.push({ role: turn.role, results: [...turn.results], rest: [...turn.rest] });
    return;
  }
  last.results.push(...turn.results);
  last.rest.push(...turn.rest);
}

function isUserBlock(block: ContentBlockParam): block is UserBlock {
  return block.type === "text" || block.type === "image" || block.type === "tool_result";
}

function encodeUser(
  content: string | readonly UserContent[],
): (TextBlockParam | ImageBlockParam)[] {
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return blocks.flatMap((block): (TextBlockParam | ImageBlockParam)[] => {
    if (block.type === "image") return [encodeImage(block)];
    // The vendor refuses text blocks without a visible character.
    return block.text.trim() === "" ? [] : [{ type: "text", text: block.text }];
  });
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

/** An error result may hold text only, so its images follow the results. */
function encodeResult(message: ToolResultMessage): Pick<Turn, "results" | "rest"> {
  const blocks = encodeUser(message.content);
  const text = blocks.filter((block) => block.type === "text");
  const images = blocks.filter((block) => block.type === "image");
  if (text.length === 0) {
    const note = images.length > 0 ? "(see attached image)" : "(no output)";
    text.push({ type: "text", text: note });
  }
  const result: ToolResultBlockParam = {
    type: "tool_result",
    tool_use_id: message.toolCallId,
    content: message.isError ? text : [...text, ...images],
    ...(message.isError && { is_error: true }),
  };
  return { results: [result], rest: message.isError ? images : [] };
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
