import type { AssistantMessage, LlmMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import { type Context, createStream, type StreamFunction } from "../src/index.ts";
import { type LoopbackServer, startLoopbackServer } from "../src/testing/index.ts";

const tool = (name: string, description = name) => ({
  name,
  description,
  parameters: { type: "object", properties: {} },
});

interface Body {
  readonly messages?: readonly Record<string, unknown>[];
  readonly input?: readonly Record<string, unknown>[];
  readonly tools?: readonly unknown[];
  readonly reasoning?: unknown;
}

/** A conversation whose prompt, tools and level change over time. */
class Chat {
  stream: StreamFunction = createStream();
  sessionId = "s1";
  systemPrompt = "Be brief.";
  tools = [tool("read"), tool("bash")];
  thinkingLevel: "low" | "medium" | "high" = "medium";
  onPayload: ((payload: unknown) => unknown) | undefined;
  readonly messages: LlmMessage[] = [];
  readonly #model: Model;
  readonly #server: LoopbackServer;

  constructor(model: Model, server: LoopbackServer) {
    this.#model = model;
    this.#server = server;
  }

  async prompt(text: string): Promise<AssistantMessage> {
    this.messages.push({ role: "user", content: text, timestamp: 1 });
    const { systemPrompt, tools, messages } = this;
    const context: Context = { systemPrompt, tools, messages };
    const { thinkingLevel, sessionId, onPayload } = this;
    const options = { apiKey: "k", thinkingLevel, sessionId, onPayload };
    const reply = this.stream(this.#model, context, options);
    for (;;) {
      const next = await reply.next();
      if (!next.done) continue;
      this.messages.push(next.value.message);
      return next.value.message;
    }
  }

  /** The bodies of the requests so far, the latest last. */
  get sent(): readonly Body[] {
    return this.#server.requests.map(({ body }) => body as Body);
  }

  get lists(): readonly string[][] {
    return this.sent.map(({ messages, input }) =>
      [...(messages ?? input ?? [])].map((item) => JSON.stringify(item)),
    );
  }
}

const flags = {
  "openai-responses": {
    supportsMidConvoSystemMessages: true,
    supportsMidConvoEffort: true,
    supportsAdditionalTools: true,
  },
  "openai-completions": {
    supportsMidConvoSystemMessages: true,
    supportsMidConvoToolAdditions: true,
  },
};

type Api = keyof typeof flags;
const apis: readonly Api[] = ["openai-responses", "openai-completions"];

async function chatOver(api: Api, compat: Model["compat"] = flags[api]) {
  const server = await startLoopbackServer({ scenario: ({ index }) => `reply ${index}` });
  const model = server.model(api, { reasoning: true, compat });
  return { server, chat: new Chat(model, server) };
}

/** Checks that each request begins with all of the previous one. */
function expectGrowing(lists: readonly string[][]): void {
  for (const [index, list] of lists.slice(1).entries()) {
    const before = lists[index] ?? [];
    expect(list.slice(0, before.length)).toEqual(before);
  }
}

describe.each(apis)("a model over %s that supports changes between messages", (api) => {
  it("gets changed instructions once, after what it received first", async () => {
    const { server, chat } = await chatOver(api);
    await using _ = server;
    await chat.prompt("one");
    chat.systemPrompt = "Be verbose.";
    for (const text of ["two", "three", "four"]) await chat.prompt(text);
    expectGrowing(chat.lists);
    const last = chat.lists.at(-1) ?? [];
    expect(last[0]).toContain("Be brief.");
    expect(last.filter((item) => item.includes("Be verbose."))).toHaveLength(1);
    expect(last[4]).toContain("These replace all earlier ones");
  });

  it("gets additional tools where they were added, with the first list unchanged", async () => {
    const { server, chat } = await chatOver(api);
    await using _ = server;
    await chat.prompt("one");
    chat.tools = [...chat.tools, tool("edit")];
    for (const text of ["two", "three"]) await chat.prompt(text);
    expectGrowing(chat.lists);
    const [first, ...later] = chat.sent;
    for (const { tools } of later) expect(tools).toEqual(first?.tools);
    const last = chat.lists.at(-1) ?? [];
    expect(last.filter((item) => item.includes('"edit"'))).toHaveLength(1);
    expect(JSON.parse(last[4] ?? "")).toMatchObject(
      api === "openai-responses"
        ? { type: "additional_tools", role: "developer", tools: [{ name: "edit" }] }
        : { role: "system", tools: [{ function: { name: "edit" } }] },
    );
  });

  it("gets a new list when a tool is removed or changed, which no message can express", async () => {
    const { server, chat } = await chatOver(api);
    await using _ = server;
    await chat.prompt("one");
    chat.tools = [tool("read", "reads otherwise")];
    await chat.prompt("two");
    expect(chat.sent[1]?.tools).toHaveLength(1);
    expect(JSON.stringify(chat.sent[1]?.tools)).toContain("reads otherwise");
    expect(chat.lists[1]).toHaveLength(4);
  });

  it("starts another session or process with the current text", async () => {
    const { server, chat } = await chatOver(api);
    await using _ = server;
    await chat.prompt("one");
    chat.systemPrompt = "Be verbose.";
    await chat.prompt("two");
    chat.sessionId = "s2";
    await chat.prompt("three");
    chat.stream = createStream();
    chat.sessionId = "s1";
    await chat.prompt("four");
    for (const list of chat.lists.slice(2)) {
      expect(list[0]).toContain("Be verbose.");
      expect(list.join()).not.toContain("Be brief.");
    }
  });

  it("gets the same again, whatever an extension did to an earlier payload", async () => {
    const { server, chat } = await chatOver(api);
    await using _ = server;
    await chat.prompt("one");
    chat.systemPrompt = "Be verbose.";
    chat.onPayload = (payload) => {
      for (const each of (payload as { tools: { description?: string }[] }).tools) {
        each.description = "changed";
      }
      return undefined;
    };
    await chat.prompt("two");
    chat.onPayload = undefined;
    await chat.prompt("three");
    expect(chat.sent[2]?.tools).toEqual(chat.sent[0]?.tools);
    expect(chat.lists[2]?.slice(0, 3)).toEqual(chat.lists[0]?.concat(chat.lists[1]?.[2] ?? ""));
  });

  it("gets the new text first if the catalogue lists no such feature", async () => {
    const { server, chat } = await chatOver(api, {});
    await using _ = server;
    await chat.prompt("one");
    chat.systemPrompt = "Be verbose.";
    await chat.prompt("two");
    expect(chat.lists[1]?.[0]).toContain("Be verbose.");
    expect(chat.lists[1]).toHaveLength(4);
  });
});

describe("a changed effort over openai-responses", () => {
  it("is an item before the prompt from which it applies", async () => {
    const { server, chat } = await chatOver("openai-responses");
    await using _ = server;
    await chat.prompt("one");
    chat.thinkingLevel = "high";
    for (const text of ["two", "three"]) await chat.prompt(text);
    chat.thinkingLevel = "low";
    await chat.prompt("four");
    expectGrowing(chat.lists);
    for (const { reasoning } of chat.sent) expect(reasoning).toMatchObject({ effort: "medium" });
    const updates = chat.lists.at(-1)?.map((item) => JSON.parse(item)) ?? [];
    expect(updates[3]).toEqual({ type: "configuration_update", reasoning: { effort: "high" } });
    expect(updates[4]).toMatchObject({ role: "user" });
    expect(updates[8]).toEqual({ type: "configuration_update", reasoning: { effort: "low" } });
    expect(updates).toHaveLength(10);
  });

  it("changes the request if the catalogue lists no such item", async () => {
    const { server, chat } = await chatOver("openai-responses", {});
    await using _ = server;
    await chat.prompt("one");
    chat.thinkingLevel = "high";
    await chat.prompt("two");
    expect(chat.sent[1]?.reasoning).toMatchObject({ effort: "high" });
  });
});
