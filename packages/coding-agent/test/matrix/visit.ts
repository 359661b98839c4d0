import {
  type AssistantMessage,
  type Context,
  createStream,
  type LlmMessage,
  type Model,
  type StreamFunction,
  type ThinkingLevel,
} from "@tau-agent/ai";
import {
  type LoopbackServer,
  type ScenarioRequest,
  startLoopbackServer,
  type Turn,
  thinking,
  toolCall,
  type Vendor,
} from "@tau-agent/ai/testing";
import { expect } from "vitest";
import type { User } from "./users.ts";

const tool = {
  name: "read",
  description: "Reads a file",
  parameters: {
    type: "object",
    properties: { path: { type: "string" } },
    required: ["path"],
  },
};

/** Reads a file when asked to, and thinks if the request allows it. */
function decide({ lastUserText, toolResults }: ScenarioRequest, isThinking: boolean): Turn {
  const thoughts = isThinking ? [thinking("Hm, a file.", { signature: "c2lnbmF0dXJl" })] : [];
  if (toolResults.length > 0) return { content: [...thoughts, `It says ${toolResults[0]?.text}.`] };
  if (!lastUserText.includes("Read")) return { content: [...thoughts, "Gladly."] };
  return { content: [...thoughts, "Let me look.", toolCall("read", { path: "a.txt" })] };
}

const user = (content: string): LlmMessage => ({ role: "user", content, timestamp: 1 });

/** One model at one vendor's endpoint, at one thinking level. */
export class Visit {
  readonly #vendor: Vendor;
  readonly #user: User;
  readonly #model: Model;
  readonly #level: ThinkingLevel;
  constructor(vendor: Vendor, guest: User, model: Model, level: ThinkingLevel) {
    this.#vendor = vendor;
    this.#user = guest;
    this.#model = model;
    this.#level = level;
  }

  /** Runs a tool turn, then continues the same conversation in another process. */
  async toolTurn(): Promise<readonly LlmMessage[]> {
    await using server = await this.#serve();
    const stream = createStream();
    const messages: LlmMessage[] = [user("Read a.txt")];
    const call = await this.#ask(server, stream, messages);
    const block = call.content.find((part) => part.type === "toolCall");
    expect(call.stopReason).toBe("toolUse");
    expect(block).toMatchObject({ name: "read", arguments: { path: "a.txt" } });
    const { id: toolCallId = "" } = block ?? {};
    const content = [{ type: "text" as const, text: "hello" }];
    const named = { toolCallId, toolName: "read", isError: false, timestamp: 1 };
    messages.push(call, { role: "toolResult", content, ...named });
    messages.push(await this.#expectText(server, stream, messages, "It says hello."));
    const stored: LlmMessage[] = JSON.parse(JSON.stringify([...messages, user("Thank you.")]));
    await this.#expectText(server, createStream(), stored, "Gladly.");
    return messages;
  }

  /** Continues each of these conversations. */
  async goOn(histories: Iterable<readonly LlmMessage[]>): Promise<void> {
    await using server = await this.#serve();
    for (const history of histories) {
      const messages = [...history, user("Read a.txt")];
      const { stopReason } = await this.#ask(server, createStream(), messages);
      expect(stopReason).toBe("toolUse");
    }
  }

  #serve(): Promise<LoopbackServer> {
    const { id, contextWindow, maxTokens } = this.#model;
    return startLoopbackServer({
      scenario: (request) => decide(request, this.#level !== "off"),
      vendor: this.#vendor,
      credentials: this.#user.credentials,
      limits: { [id]: { contextWindow, maxTokens } },
    });
  }

  async #expectText(
    server: LoopbackServer,
    stream: StreamFunction,
    messages: readonly LlmMessage[],
    expected: string,
  ): Promise<AssistantMessage> {
    const reply = await this.#ask(server, stream, messages);
    const text = reply.content.map((part) => (part.type === "text" ? part.text : "")).join("");
    expect({ text, stop: reply.stopReason }).toEqual({ text: expected, stop: "stop" });
    return reply;
  }

  async #ask(
    server: LoopbackServer,
    stream: StreamFunction,
    messages: readonly LlmMessage[],
  ): Promise<AssistantMessage> {
    const context: Context = { systemPrompt: "You help.", messages, tools: [tool] };
    const reply = stream(this.#model, context, {
      ...(await this.#user.registry.requestAuth(this.#model)),
      fetch: this.#user.fetchTo(server),
      thinkingLevel: this.#level,
      sessionId: "session",
      cacheRetention: "long",
    });
    for (;;) {
      const next = await reply.next();
      if (!next.done) continue;
      const { message } = next.value;
      expect(message.errorMessage, this.#model.id).toBeUndefined();
      this.#expectThinking(server, message);
      expect(message.usage.totalTokens).toBeGreaterThan(0);
      return message;
    }
  }

  #expectThinking(server: LoopbackServer, { content }: AssistantMessage): void {
    const isOn = this.#level !== "off";
    const body = server.requests.at(-1)?.body as Record<string, unknown>;
    const isAsked = (isOn && canAskToThink(this.#model)) || thinksAlways(this.#model);
    expect(this.#vendor.thinks(body), this.#model.id).toBe(isAsked);
    expect(content.some(({ type }) => type === "thinking")).toBe(isOn);
  }
}

/** Claude 5.5, Fable 5.1 and 5.2 refuse earlier thinking from requests without it (decision 53). */
function thinksAlways({ id }: Model): boolean {
  return /claude-(?:\w+-5[.-]5|fable-5[.-][12])/.test(id);
}

/** Some endpoints decide themselves how much to think, and have no parameter for it. */
function canAskToThink({ id, api, compat = {} }: Model): boolean {
  if (api === "bedrock-converse-stream") return /claude|nova-2|openai\.gpt/.test(id);
  const { supportsReasoningEffort, thinkingFormat = "openai" } = compat;
  return supportsReasoningEffort !== false || thinkingFormat !== "openai" || api.startsWith("anth");
}
