import type { AssistantMessage, Model, ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { affinityHeaders } from "../openai/affinity.ts";
import type { Context, StreamOptions } from "../provider.ts";
import { resolveCompletionsCompat } from "./compat.ts";
import { withFinishReason } from "./open.ts";
import { encodeRequest } from "./request.ts";

const zero = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

function model(compat: Record<string, unknown> = {}, overrides: Partial<Model> = {}): Model {
  return {
    id: "m",
    name: "M",
    api: "openai-completions",
    provider: "custom",
    baseUrl: "http://localhost:1234/v1",
    reasoning: false,
    input: ["text", "image"],
    cost: zero,
    contextWindow: 100_000,
    maxTokens: 64_000,
    compat,
    ...overrides,
  };
}

const thinker = (compat: Record<string, unknown>, thinkingLevelMap?: Model["thinkingLevelMap"]) =>
  model(compat, { reasoning: true, ...(thinkingLevelMap && { thinkingLevelMap }) });

const user = { role: "user" as const, content: "Hi", timestamp: 1 };
const tools = [{ name: "read", description: "Reads", parameters: { type: "object" } }];

const assistant = (content: AssistantMessage["content"]): AssistantMessage => ({
  role: "assistant",
  content,
  api: "openai-completions",
  provider: "custom",
  model: "m",
  usage: { ...zero, totalTokens: 0, cost: { ...zero, total: 0 } },
  stopReason: "stop",
  timestamp: 2,
});
const call = { type: "toolCall" as const, id: "c1", name: "read", arguments: { path: "a" } };
const answer: ToolResultMessage = {
  role: "toolResult",
  toolCallId: "c1",
  toolName: "read",
  content: [{ type: "text", text: "ok" }],
  isError: false,
  timestamp: 3,
};

function encode(
  target: Model,
  context: Partial<Context> = {},
  options: StreamOptions = {},
): Record<string, unknown> & { messages: Record<string, unknown>[] } {
  const request = encodeRequest(target, { messages: [user], ...context }, options);
  return JSON.parse(JSON.stringify(request));
}

const roundTrip: Partial<Context> = { messages: [user, assistant([call]), answer, user], tools };

describe("a request to an unknown endpoint", () => {
  it("contains only what every server knows", () => {
    expect(encode(model(), { systemPrompt: "S" })).toEqual({
      model: "m",
      messages: [
        { role: "system", content: "S" },
        { role: "user", content: "Hi" },
      ],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it("contains an output limit only if one was requested", () => {
    expect(encode(model())).not.toHaveProperty("max_tokens");
    expect(encode(model(), {}, { maxTokens: 5 })).toMatchObject({ max_tokens: 5 });
  });

  it("contains no empty list of tools", () => {
    expect(encode(model(), { tools: [] })).not.toHaveProperty("tools");
  });
});

describe("compat flags", () => {
  it("supportsStore adds store: false", () => {
    expect(encode(model({ supportsStore: true }))).toMatchObject({ store: false });
  });

  it("supportsDeveloperRole changes the role of the system prompt for thinking models", () => {
    const role = (target: Model) => encode(target, { systemPrompt: "S" }).messages[0]?.role;
    expect(role(thinker({ supportsDeveloperRole: true }))).toBe("developer");
    expect(role(thinker({ supportsDeveloperRole: false }))).toBe("system");
    expect(role(model({ supportsDeveloperRole: true }))).toBe("system");
  });

  it("supportsUsageInStreaming: false omits stream_options", () => {
    expect(encode(model({ supportsUsageInStreaming: false }))).not.toHaveProperty("stream_options");
  });

  it("supportsStrictMode adds strict: false to tools", () => {
    const strict = (target: Model) => encode(target, { tools }).tools;
    expect(strict(model({ supportsStrictMode: true }))).toMatchObject([
      { function: { strict: false } },
    ]);
    expect(JSON.stringify(strict(model()))).not.toContain("strict");
  });

  it("maxTokensField sets the name of the output limit", () => {
    const options = { maxTokens: 7 };
    const field = { maxTokensField: "max_completion_tokens" };
    expect(encode(model(field), {}, options)).toMatchObject({ max_completion_tokens: 7 });
  });

  it("requiresToolResultName names the tool in its result", () => {
    const named = encode(model({ requiresToolResultName: true }), roundTrip);
    expect(named.messages[2]).toMatchObject({ role: "tool", name: "read" });
    expect(encode(model(), roundTrip).messages[2]).not.toHaveProperty("name");
  });

  it("requiresAssistantAfterToolResult inserts a reply between a result and a user message", () => {
    const { messages } = encode(model({ requiresAssistantAfterToolResult: true }), roundTrip);
    expect(messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
    ]);
  });

  it("requiresThinkingAsText sends thinking as plain text without tags", () => {
    const history = [
      user,
      assistant([
        { type: "thinking", thinking: "T" },
        { type: "text", text: "A" },
      ]),
    ];
    const { messages } = encode(model({ requiresThinkingAsText: true }), { messages: history });
    expect(messages[1]?.content).toBe("T\n\nA");
  });

  it("requiresNonNullAssistantContent replaces null", () => {
    const content = (target: Model) => encode(target, roundTrip).messages[1]?.content;
    expect(content(model())).toBeNull();
    expect(content(model({ requiresNonNullAssistantContent: true }))).toBe("");
  });

  it("requiresToolsWithToolHistory declares tools if there are earlier calls", () => {
    const context = { messages: [user, assistant([call]), answer] };
    const flagged = model({ requiresToolsWithToolHistory: true });
    expect(encode(flagged, context).tools).toEqual([]);
    expect(encode(flagged)).not.toHaveProperty("tools");
    expect(encode(model(), context)).not.toHaveProperty("tools");
  });

  it("requiresReasoningContentOnAssistantMessages fills the member while the model thinks", () => {
    const target = thinker({ requiresReasoningContentOnAssistantMessages: true });
    const sent = (thinkingLevel: "off" | "high") =>
      encode(target, roundTrip, { thinkingLevel }).messages[1];
    expect(sent("high")).toHaveProperty("reasoning_content", "");
    expect(sent("off")).not.toHaveProperty("reasoning_content");
  });

  it("replaysThinking: false omits earlier thinking", () => {
    const signed = { type: "thinking" as const, thinking: "T", thinkingSignature: "reasoning" };
    const context = { messages: [user, assistant([signed, { type: "text", text: "A" }])] };
    expect(encode(model(), context).messages[1]).toMatchObject({ reasoning: "T" });
    expect(encode(model({ replaysThinking: false }), context).messages[1]).not.toHaveProperty(
      "reasoning",
    );
  });

  it("openRouterRouting, vercelGatewayRouting and vllmPriority are passed on", () => {
    const compat = {
      openRouterRouting: { order: ["a"] },
      vercelGatewayRouting: { only: ["b"] },
      vllmPriority: 3,
    };
    expect(encode(model(compat))).toMatchObject({
      provider: { order: ["a"] },
      providerOptions: { gateway: { only: ["b"] } },
      priority: 3,
    });
  });

  it("zaiToolStream requests streamed arguments if there are tools", () => {
    const target = model({ zaiToolStream: true });
    expect(encode(target, { tools })).toHaveProperty("tool_stream", true);
    expect(encode(target)).not.toHaveProperty("tool_stream");
  });

  it("cacheControlFormat marks the system prompt and the conversation unless caching is off", () => {
    const target = model({ cacheControlFormat: "anthropic" });
    const context = { ...roundTrip, systemPrompt: "S" };
    const marks = (options: StreamOptions) =>
      JSON.stringify(encode(target, context, options)).split("cache_control").length - 1;
    expect(marks({})).toBe(3);
    expect(marks({ cacheRetention: "none" })).toBe(0);
  });

  it("supportsLongCacheRetention: false omits the retention", () => {
    const compat = { supportsPromptCacheKey: true, supportsLongCacheRetention: false };
    const options = { sessionId: "s", cacheRetention: "long" } as const;
    const request = encode(model(compat), {}, options);
    expect(request).toHaveProperty("prompt_cache_key", "s");
    expect(request).not.toHaveProperty("prompt_cache_retention");
  });

  it("sendSessionAffinityHeaders names the session in the endpoint's format", () => {
    const headers = (format: "openai" | "openai-nosession" | "openrouter", sessionId = "s") =>
      affinityHeaders(
        { sendSessionAffinityHeaders: true, sessionAffinityFormat: format },
        { sessionId },
      );
    expect(headers("openrouter")).toEqual({ "x-session-id": "s" });
    expect(Object.keys(headers("openai"))).toEqual([
      "session-id",
      "x-client-request-id",
      "x-session-affinity",
    ]);
    expect(headers("openai-nosession")).not.toHaveProperty("session-id");
    expect(headers("openai", "")).toEqual({});
  });

  it("supportsFinishReason: false accepts an orderly end as a stop, but not an empty reply", async () => {
    const list = async (chunks: object[]) => {
      const read: object[] = [];
      async function* source() {
        yield* chunks;
      }
      for await (const chunk of withFinishReason(source())) read.push(chunk);
      return read;
    };
    const text = { choices: [{ delta: { content: "a" } }] };
    expect((await list([text])).at(-1)).toMatchObject({ choices: [{ finish_reason: "stop" }] });
    expect(await list([])).toEqual([]);
  });
});

describe("thinkingFormat", () => {
  const on = { thinkingLevel: "high" } as const;
  const fields = (
    compat: Record<string, unknown>,
    options: StreamOptions,
    map?: Model["thinkingLevelMap"],
  ) => {
    const {
      model: _m,
      messages: _c,
      stream: _s,
      stream_options: _o,
      ...rest
    } = encode(thinker(compat, map), {}, options);
    return rest;
  };

  it.each([
    ["openai", { reasoning_effort: "high" }, {}],
    ["openrouter", { reasoning: { effort: "high" } }, { reasoning: { effort: "none" } }],
    [
      "deepseek",
      { thinking: { type: "enabled" }, reasoning_effort: "high" },
      { thinking: { type: "disabled" } },
    ],
    [
      "zai",
      { thinking: { type: "enabled", clear_thinking: false }, reasoning_effort: "high" },
      { thinking: { type: "disabled" } },
    ],
    [
      "together",
      { reasoning: { enabled: true }, reasoning_effort: "high" },
      { reasoning: { enabled: false } },
    ],
    ["qwen", { enable_thinking: true, reasoning_effort: "high" }, { enable_thinking: false }],
    [
      "qwen-chat-template",
      { chat_template_kwargs: { enable_thinking: true, preserve_thinking: true } },
      { chat_template_kwargs: { enable_thinking: false, preserve_thinking: true } },
    ],
    [
      "chat-template",
      { chat_template_kwargs: { enable_thinking: true } },
      { chat_template_kwargs: { enable_thinking: false } },
    ],
    [
      "baseten",
      { chat_template_args: { enable_thinking: true }, reasoning_effort: "high" },
      { chat_template_args: { enable_thinking: false } },
    ],
    ["string-thinking", { thinking: "high" }, { thinking: "none" }],
    ["ant-ling", {}, {}],
  ])("%s turns thinking on and off in its own format", (thinkingFormat, whenOn, whenOff) => {
    expect(fields({ thinkingFormat }, on)).toEqual(whenOn);
    expect(fields({ thinkingFormat }, {})).toEqual(whenOff);
  });

  it("omits everything for a model that cannot think", () => {
    expect(encode(model({ thinkingFormat: "qwen" }), {}, on)).not.toHaveProperty("enable_thinking");
  });

  it("uses the model's own names for levels, including off", () => {
    const map = { off: "none", high: "default" };
    expect(fields({}, on, map)).toEqual({ reasoning_effort: "default" });
    expect(fields({}, {}, map)).toEqual({ reasoning_effort: "none" });
    expect(fields({ thinkingFormat: "ant-ling" }, on, map)).toEqual({
      reasoning: { effort: "default" },
    });
  });

  it.each(["openrouter", "deepseek", "qwen", "together", "string-thinking"])(
    "%s never turns off a model that must think",
    (thinkingFormat) => {
      expect(fields({ thinkingFormat }, {}, { off: null })).toEqual({});
    },
  );

  it("supportsReasoningEffort: false omits the effort", () => {
    expect(fields({ supportsReasoningEffort: false }, on)).toEqual({});
  });

  it("fills chatTemplateKwargs and thinkingTokenBudgetField", () => {
    const compat = {
      thinkingFormat: "chat-template",
      thinkingTokenBudgetField: "thinking_token_budget",
      chatTemplateKwargs: {
        thinking: { $var: "thinking.enabled" },
        effort: { $var: "thinking.effort", omitWhenOff: true },
        fixed: 1,
      },
    };
    const options = { ...on, thinkingBudgets: { high: 9 } };
    expect(fields(compat, options)).toEqual({
      chat_template_kwargs: { thinking: true, effort: "high", fixed: 1 },
      thinking_token_budget: 9,
    });
    expect(fields(compat, {})).toEqual({ chat_template_kwargs: { thinking: false, fixed: 1 } });
  });
});

describe("resolveCompletionsCompat", () => {
  const at = (baseUrl: string, provider = "custom") =>
    resolveCompletionsCompat(model({}, { baseUrl, provider }));

  it("recognises endpoints by host in any case, and by provider name behind a proxy", () => {
    expect(at("https://API.DeepSeek.com/v1").thinkingFormat).toBe("deepseek");
    expect(at("https://proxy.internal/v1", "DeepSeek").thinkingFormat).toBe("deepseek");
    expect(at("https://notdeepseek.com.evil.example").thinkingFormat).toBe("openai");
    expect(at("https://api.mistral.ai/v1").toolCallIdFormat).toBe("mistral");
    expect(at("https://api.openai.com/v1").supportsStore).toBe(true);
  });

  it("prefers the model's own flags, but ignores values of the wrong type", () => {
    const target = model(
      { thinkingFormat: "qwen", supportsStore: "yes", maxTokensField: "tokens", unknown: 1 },
      { baseUrl: "https://api.deepseek.com" },
    );
    expect(resolveCompletionsCompat(target)).toMatchObject({
      thinkingFormat: "qwen",
      supportsStore: false,
      maxTokensField: "max_tokens",
    });
    expect(resolveCompletionsCompat(target)).not.toHaveProperty("unknown");
  });
});

describe("encodeRequest", () => {
  it("keeps the encoded prefix byte for byte when the conversation grows", () => {
    const block = fc.oneof(
      fc.record({ type: fc.constant("text" as const), text: fc.string() }),
      fc.record({ type: fc.constant("thinking" as const), thinking: fc.string() }),
    );
    const message = fc.oneof(
      fc.string({ minLength: 1 }).map((content) => ({ ...user, content })),
      fc.array(block, { minLength: 1 }).map((content) => assistant(content)),
    );
    fc.assert(
      fc.property(fc.array(message), fc.array(message), (first, more) => {
        const before = encode(model(), { messages: first }).messages;
        const after = encode(model(), { messages: [...first, ...more] }).messages;
        expect(after.slice(0, before.length)).toEqual(before);
      }),
    );
  });

  it("gives a call and its result the same nine characters for Mistral", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (id) => {
        const messages = [user, assistant([{ ...call, id }]), { ...answer, toolCallId: id }];
        const sent = encode(model({ toolCallIdFormat: "mistral" }), { messages }).messages;
        const callId = JSON.stringify(sent[1]?.tool_calls);
        expect(sent[2]?.tool_call_id).toMatch(/^[a-zA-Z0-9]{9}$/);
        expect(callId).toContain(JSON.stringify(sent[2]?.tool_call_id));
      }),
    );
  });
});
