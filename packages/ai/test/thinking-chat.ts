import {
  type Context,
  createStream,
  type StreamFunction,
  type StreamOptions,
  type ToolDefinition,
} from "@tau-agent/ai";
import type { AssistantMessage, LlmMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { expect } from "vitest";
import {
  type BoundThinkingMemory,
  checkBoundThinking,
  rememberBoundThinking,
} from "../src/testing/rules/bound-thinking.ts";

export interface Sent {
  readonly headers: Record<string, string>;
  readonly body: {
    system?: { text: string }[];
    tools?: { name: string }[];
    output_config?: unknown;
    thinking?: unknown;
    messages: { role: string; content: { type: string }[] | string; output_config?: unknown }[];
  };
}

/** A server that thinks before each answer and checks the thinking that is sent back. */
export class ThinkingServer {
  readonly sent: Sent[] = [];
  readonly refusals: string[] = [];
  /** The next answer: text, a failure, or a tool call. */
  next: "text" | "failure" | "call" = "text";
  readonly #memory: BoundThinkingMemory = new Map();
  readonly #isStrict: boolean;
  #count = 0;

  constructor(isStrict: boolean) {
    this.#isStrict = isStrict;
  }

  readonly fetch: typeof globalThis.fetch = async (_url, init) => {
    const request = {
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: JSON.parse(String(init?.body)),
    };
    this.sent.push(request);
    const refusal =
      checkBoundThinking(request, this.#memory, this.#isStrict) ?? checkPlaces(request.body);
    if (refusal !== undefined) {
      this.refusals.push(refusal);
      const error = { type: "invalid_request_error", message: refusal };
      return Response.json({ type: "error", error }, { status: 400 });
    }
    const kind = this.next;
    this.next = "text";
    if (kind === "failure") return Response.json({}, { status: 529 });
    const signature = `signature-${++this.#count}`;
    rememberBoundThinking(request, [signature], this.#memory);
    return new Response(replyWith(signature, kind === "call"), {
      headers: { "content-type": "text/event-stream" },
    });
  };
}

/** The vendor's rules for system messages between others. */
function checkPlaces({ messages }: Sent["body"]): string | undefined {
  for (const [at, message] of messages.entries()) {
    if (message.role !== "system") continue;
    const isEffortOnly = message.content.length === 0 && message.output_config !== undefined;
    const next = messages[at + 1]?.role;
    if (isEffortOnly && next !== undefined) continue;
    if (messages[at - 1]?.role !== "user")
      return `messages.${at}: role 'system' must follow a user`;
    if (next !== undefined && next !== "assistant") {
      return `messages.${at}: role 'system' must precede an 'assistant' message or end the array`;
    }
  }
  return undefined;
}

function replyWith(signature: string, isCall: boolean): string {
  const answer = isCall
    ? { type: "tool_use", id: `call-${signature}`, name: "read", input: {} }
    : { type: "text", text: "Done." };
  const events = [
    { type: "message_start", message: { id: "m", model: "x", usage: { input_tokens: 1 } } },
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "thinking", thinking: "Hm.", signature },
    },
    { type: "content_block_stop", index: 0 },
    { type: "content_block_start", index: 1, content_block: answer },
    { type: "content_block_stop", index: 1 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

export const allChanges = {
  supportsMidConvoSystemMessages: true,
  supportsMidConvoToolChanges: true,
  supportsMidConvoEffort: true,
};

export function modelOf(id: string, compat: Model["compat"], more: Partial<Model> = {}): Model {
  return {
    id,
    name: id,
    api: "anthropic-messages",
    provider: "anthropic",
    baseUrl: "https://api.anthropic.com",
    reasoning: true,
    input: ["text", "image"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 200_000,
    maxTokens: 64_000,
    compat: { forceAdaptiveThinking: true, ...compat },
    ...more,
  };
}

export const tool = (name: string, description = name): ToolDefinition => ({
  name,
  description,
  parameters: { type: "object", properties: {} },
});

/** A session: its history, and everything else that each request contains. */
export class Chat {
  messages: LlmMessage[] = [];
  model: Model;
  systemPrompt = "Be brief.";
  tools = [tool("read"), tool("bash")];
  sessionId = "s1";
  thinkingLevel: StreamOptions["thinkingLevel"] = "medium";
  stream: StreamFunction = createStream();
  onPayload: StreamOptions["onPayload"];
  readonly server: ThinkingServer;

  constructor(model: Model, server: ThinkingServer) {
    this.model = model;
    this.server = server;
  }

  async prompt(content: LlmMessage["content"] & (string | object[])): Promise<AssistantMessage> {
    this.messages.push({ role: "user", content, timestamp: 1 } as LlmMessage);
    return this.goOn();
  }

  async goOn(): Promise<AssistantMessage> {
    const context: Context = {
      systemPrompt: this.systemPrompt,
      messages: this.messages,
      tools: this.tools,
    };
    const { fetch } = this.server;
    const reply = this.stream(this.model, context, {
      apiKey: "k",
      sessionId: this.sessionId,
      thinkingLevel: this.thinkingLevel,
      onPayload: this.onPayload,
      fetch,
    });
    for (;;) {
      const next = await reply.next();
      if (!next.done) continue;
      this.messages.push(next.value.message);
      return next.value.message;
    }
  }

  /** A prompt whose answer calls a tool, followed by the answer to the result. */
  async promptWithTool(steering?: string): Promise<void> {
    this.server.next = "call";
    const { content } = await this.prompt("use it");
    for (const block of content) {
      if (block.type !== "toolCall") continue;
      this.messages.push({
        role: "toolResult",
        toolCallId: block.id,
        toolName: block.name,
        content: [{ type: "text", text: "result" }],
        isError: false,
        timestamp: 1,
      });
    }
    if (steering === undefined) await this.goOn();
    else await this.prompt(steering);
  }

  async promptThrice(): Promise<void> {
    for (const text of ["one", "two", "three"]) {
      expect(await this.prompt(text)).toMatchObject({ stopReason: "stop" });
    }
  }
}
