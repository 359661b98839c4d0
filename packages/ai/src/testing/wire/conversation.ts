import type {
  AssistantContent,
  AssistantMessage,
  LlmMessage,
  UserContent,
} from "@tau-agent/rpc-protocol/messages";
import type { ToolDefinition } from "../../provider.ts";
import { emptyUsage } from "../../reply/empty-usage.ts";
import { listOf, objectOf, textOf } from "./json.ts";

/** Builds a conversation in our format from a vendor's messages. Adjacent blocks of one role become one message. */
export class Conversation {
  readonly messages: LlmMessage[] = [];
  readonly #api: string;
  readonly #model: string;
  readonly #toolNames = new Map<string, string>();

  constructor(api: string, model: string) {
    this.#api = api;
    this.#model = model;
  }

  /** Adds user content; adds nothing if there are no blocks. */
  addUser(content: readonly UserContent[]): void {
    if (content.length === 0) return;
    this.messages.push({ role: "user", content: [...content], timestamp: 0 });
  }

  /** Extends the last reply, or starts a new one. */
  addAssistant(content: readonly AssistantContent[]): void {
    if (content.length === 0) return;
    for (const block of content) {
      if (block.type === "toolCall") this.#toolNames.set(block.id, block.name);
    }
    const last = this.messages.at(-1);
    if (last?.role === "assistant") last.content.push(...content);
    else this.messages.push(this.#reply([...content]));
  }

  /** Adds a tool result; the name is taken from the call unless the vendor sends it. */
  addToolResult(result: {
    id: string;
    content: UserContent[];
    isError?: boolean;
    name?: string;
  }): void {
    this.messages.push({
      role: "toolResult",
      toolCallId: result.id,
      toolName: result.name ?? this.#toolNames.get(result.id) ?? "",
      content: result.content,
      isError: result.isError ?? false,
      timestamp: 0,
    });
  }

  #reply(content: AssistantContent[]): AssistantMessage {
    return {
      role: "assistant",
      content,
      api: this.#api,
      provider: "loopback",
      model: this.#model,
      usage: emptyUsage(),
      stopReason: content.some((block) => block.type === "toolCall") ? "toolUse" : "stop",
      timestamp: 0,
    };
  }
}

/** The texts of a content, which may be a string. */
export function textsOf(content: unknown, between = ""): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map((part) => textOf(part.text))
    .join(between);
}

/** A tool in the form of the vendor's request. */
export function toolOf(declared: unknown, schema: unknown): ToolDefinition {
  const { name, description } = objectOf(declared);
  return { name: textOf(name), description: textOf(description), parameters: objectOf(schema) };
}

/** The image in a data URL, as a list to spread. */
export function imageOfUrl(url: string): UserContent[] {
  const match = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  return match?.[1] === undefined || match[2] === undefined
    ? []
    : [{ type: "image", mimeType: match[1], data: match[2] }];
}

/** A text block as a list to spread; empty for an empty text. */
export function textBlock(text: string): { type: "text"; text: string }[] {
  return text === "" ? [] : [{ type: "text", text }];
}
