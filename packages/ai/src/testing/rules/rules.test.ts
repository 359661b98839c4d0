import { describe, expect, it } from "vitest";
import { findRefusal } from "./index.ts";
import type { RuleMemory } from "./rule.ts";

/** The formats that clouds also accept; `clouds.test.ts` covers the rules of the clouds. */
type Vendor =
  | "anthropic-messages"
  | "openai-completions"
  | "openai-responses"
  | "google-generative-ai";

type Json = Record<string, unknown>;

const memory = (): RuleMemory => ({
  signed: new Map(),
  models: new Map([["m", { contextWindow: 1000, maxTokens: 100 }]]),
});

const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const user = (content: unknown): Json => ({ role: "user", content });
const useOf = (id: string): Json => ({ type: "tool_use", id, name: "read", input: {} });
const resultOf = (id: string): Json => ({ type: "tool_result", tool_use_id: id, content: "x" });
const asks = (...content: Json[]): Json => ({ role: "assistant", content });
const think = (signature: unknown): Json => ({ type: "thinking", thinking: "x", signature });
const callOf = (id: string, name = "read", json: unknown = "{}"): Json => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name, arguments: json } }],
});
const toolOf = (id: string): Json => ({ role: "tool", tool_call_id: id, content: "x" });
const image = (url: string): Json => ({ type: "image_url", image_url: { url } });
const said = (text: string): Json => ({ role: "user", content: [{ type: "input_text", text }] });
const item = (call_id: string, more: Json = {}): Json => ({
  ...{ type: "function_call", call_id, name: "read", arguments: "{}" },
  ...more,
});
const output = (call_id: string): Json => ({ type: "function_call_output", call_id, output: "x" });
const reasoning = (more: Json = {}): Json => ({
  ...{ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" },
  ...more,
});
const turn = (...parts: Json[]): Json => ({ role: "user", parts });
const model = (...parts: Json[]): Json => ({ role: "model", parts });
const called = (id: string, name = "read"): Json => ({ functionCall: { id, name, args: {} } });
const answered = (id: string, name = "read"): Json => ({
  functionResponse: { id, name, response: { output: "x" } },
});

const valid: Readonly<Record<Vendor, Json>> = {
  "anthropic-messages": {
    model: "m",
    max_tokens: 50,
    messages: [
      user("Hi"),
      asks(think("c2ln"), useOf("a"), useOf("b")),
      user([resultOf("a"), resultOf("b"), { type: "text", text: "and?" }]),
    ],
    tools: [{ name: "read", description: "", input_schema: schema }],
  },
  "openai-completions": {
    model: "m",
    max_tokens: 50,
    messages: [user("Hi"), callOf("a"), toolOf("a"), user([image("data:image/png;base64,AA==")])],
    tools: [{ type: "function", function: { name: "read", parameters: schema } }],
  },
  "openai-responses": {
    model: "m",
    store: false,
    max_output_tokens: 16,
    input: [said("Hi"), reasoning(), item("a", { id: "fc_1" }), output("a")],
    tools: [{ type: "function", name: "read", parameters: schema }],
  },
  "google-generative-ai": {
    contents: [turn({ text: "Hi" }), model({ text: "Hm" }, called("a")), turn(answered("a"))],
    tools: [{ functionDeclarations: [{ name: "read", parametersJsonSchema: schema }] }],
    generationConfig: { maxOutputTokens: 50, thinkingConfig: { thinkingBudget: 128 } },
  },
};

const anthropic = (...messages: Json[]): Json => ({ messages });
const anthropicTool = (name: string, input_schema: Json = schema): Json => ({
  tools: [{ name, description: "", input_schema }],
});
const openAiTool = (name: string, parameters: Json = schema): Json => ({
  tools: [{ type: "function", name, parameters, function: { name, parameters } }],
});
const googleTool = (name: string, parametersJsonSchema: Json = schema): Json => ({
  tools: [{ functionDeclarations: [{ name, parametersJsonSchema }] }],
});

/** A change to the valid request, the rule that it breaks, and part of the vendor's error. */
type Case = readonly [change: Json, rule: string, words: RegExp];

const cases: Readonly<Record<Vendor, readonly Case[]>> = {
  "anthropic-messages": [
    [{ max_tokens: undefined }, "required", /^max_tokens: Field required$/],
    [{ extra: 1 }, "required", /^extra: Extra inputs are not permitted$/],
    [{ messages: [] }, "required", /at least one message/],
    [anthropic(asks({ type: "text", text: "x" }), user("Hi")), "roles", /first message/],
    [anthropic(user("Hi"), asks({ type: "text", text: "x" })), "roles", /end with a user message/],
    [anthropic({ role: "tool", content: "x" }), "roles", /Input should be/],
    [anthropic(user("")), "content", /must be non-empty/],
    [anthropic(user(" \n")), "content", /non-whitespace/],
    [anthropic(user([])), "content", /non-empty content/],
    [anthropic(user([think("c2ln")])), "content", /expected tags/],
    [anthropic(user("Hi"), asks(think("")), user("x")), "content", /Invalid `signature`/],
    [anthropic(user("Hi"), asks(think(undefined)), user("x")), "content", /Field required/],
    [
      anthropic(user([{ type: "image", source: { type: "base64", media_type: "image/bmp" } }])),
      "content",
      /media_type/,
    ],
    [{ system: [{ type: "text", text: "" }] }, "content", /non-empty/],
    [
      anthropic(
        user(Array.from({ length: 5 }, () => ({ type: "text", text: "x", cache_control: {} }))),
      ),
      "counts",
      /Found 5/,
    ],
    [
      anthropic(
        user([
          { type: "text", text: "x", cache_control: { type: "ephemeral" } },
          { type: "text", text: "y", cache_control: { type: "ephemeral", ttl: "1h" } },
        ]),
      ),
      "cache-lifetimes",
      /must not come after/,
    ],
    [anthropic(user("Hi"), asks(useOf("a|b")), user([resultOf("a|b")])), "tool-uses", /pattern/],
    [
      anthropic(user("Hi"), asks(useOf("a"), useOf("a")), user([resultOf("a")])),
      "tool-uses",
      /unique/,
    ],
    [anthropic(user("Hi"), asks(useOf("a")), user("x")), "pairs", /without `tool_result` blocks/],
    [anthropic(user([resultOf("a")])), "pairs", /unexpected `tool_use_id`/],
    [
      anthropic(user("Hi"), asks(useOf("a")), user([resultOf("a"), resultOf("a")])),
      "pairs",
      /single result/,
    ],
    [
      anthropic(user("Hi"), asks(useOf("a")), user([{ type: "text", text: "x" }, resultOf("a")])),
      "pairs",
      /before any other/,
    ],
    [
      { thinking: { type: "enabled", budget_tokens: 1000 } },
      "thinking",
      /greater than or equal to 1024/,
    ],
    [
      { thinking: { type: "enabled", budget_tokens: 2000 } },
      "thinking",
      /`max_tokens` must be greater/,
    ],
    [{ thinking: { type: "adaptive" }, temperature: 0.5 }, "thinking", /may only be set to 1/],
    [anthropicTool("a.b"), "tools", /pattern/],
    [anthropicTool("a", { type: "object", properties: { "a b": {} } }), "tools", /Property keys/],
    [anthropicTool("a", { type: "object", anyOf: [{}] }), "tools", /top level/],
    [anthropicTool("a", {}), "tools", /'object'/],
    [
      anthropicTool("a", { type: "object", properties: { a: { type: "text" } } }),
      "tools",
      /draft 2020-12/,
    ],
    [
      anthropic(user("Hi"), { role: "system", content: "x" }, user("x")),
      "system-places",
      /must precede an 'assistant'/,
    ],
    [
      { thinking: { type: "adaptive", block_binding: {} } },
      "bound-thinking",
      /block_binding: Extra inputs/,
    ],
    [{ max_tokens: 101 }, "limits", /101 > 100, which is the maximum/],
    [{ max_tokens: 0 }, "limits", /greater than or equal to 1/],
    [anthropic(user("x".repeat(3900))), "limits", /input length and `max_tokens` exceed/],
    [anthropic(user("x".repeat(4100))), "limits", /prompt is too long/],
  ],
  "openai-completions": [
    [{ extra: 1 }, "required", /Unrecognized request argument supplied: extra/],
    [{ messages: [] }, "required", /empty array/],
    [{ messages: [user(null)] }, "content", /expected a string, got null/],
    [{ messages: [user([])] }, "content", /empty array/],
    [{ messages: [{ role: "robot", content: "x" }] }, "content", /Invalid value: 'robot'/],
    [{ messages: [user([image("data:image/bmp;base64,AA==")])] }, "content", /unsupported image/],
    [{ messages: [user("x"), callOf("a".repeat(41)), toolOf("a")] }, "calls", /maximum length 40/],
    [{ messages: [user("x"), callOf("a", "a.b"), toolOf("a")] }, "calls", /does not match pattern/],
    [{ messages: [user("x"), callOf("a", "read", "{"), toolOf("a")] }, "calls", /JSON object/],
    [{ messages: [callOf("a"), toolOf("a"), callOf("a"), toolOf("a")] }, "calls", /Duplicate/],
    [{ messages: [callOf("a"), user("x")] }, "pairs", /did not have response messages: a/],
    [{ messages: [callOf("a")] }, "pairs", /did not have response messages: a/],
    [{ messages: [user("x"), toolOf("a")] }, "pairs", /must be a response/],
    [openAiTool("x".repeat(65)), "tools", /maximum length 64/],
    [openAiTool("a", { type: "string" }), "tools", /'type: "object"'/],
    [openAiTool("a", { type: "object", anyOf: [{}] }), "tools", /at the top level/],
    [
      openAiTool("a", { type: "object", properties: { l: { type: "array" } } }),
      "tools",
      /missing items/,
    ],
    [{ max_tokens: 0 }, "limits", /below minimum/],
    [{ max_tokens: 200 }, "limits", /too large: 200/],
    [{ max_completion_tokens: 5 }, "limits", /at the same time/],
    [{ messages: [user("x".repeat(3900))] }, "limits", /maximum context length is 1000/],
  ],
  "openai-responses": [
    [{ extra: 1 }, "required", /Unknown parameter: 'extra'/],
    [{ input: [] }, "required", /'input'/],
    [{ input: [{ role: "user", content: [] }] }, "content", /empty array/],
    [
      { input: [{ role: "assistant", content: [{ type: "input_text", text: "x" }] }] },
      "content",
      /Invalid value/,
    ],
    [{ input: [{ type: "item_reference", id: "rs_1" }] }, "content", /item_reference/],
    [{ input: [item("a", { id: "call_1" }), output("a")] }, "ids", /begins with 'fc'/],
    [{ input: [item("a".repeat(65)), output("a")] }, "ids", /maximum length 64/],
    [{ input: [item("a|b"), output("a|b")] }, "ids", /additional characters/],
    [
      { input: [item("a", { id: "fc_1" }), output("a"), item("b", { id: "fc_1" }), output("b")] },
      "ids",
      /Duplicate item/,
    ],
    [{ input: [item("a", { name: "a.b" }), output("a")] }, "calls", /pattern/],
    [{ input: [item("a")] }, "pairs", /No tool output found for function call a/],
    [{ input: [output("a")] }, "pairs", /No tool call found/],
    [
      { input: [item("a"), output("a"), item("a"), output("a")] },
      "pairs",
      /Duplicate function call/,
    ],
    [{ input: [reasoning(), said("x")] }, "reasoning", /without its required following item/],
    [
      { input: [reasoning({ encrypted_content: null }), item("a"), output("a")] },
      "reasoning",
      /not persisted/,
    ],
    [openAiTool("a b"), "tools", /pattern/],
    [{ max_output_tokens: 15 }, "limits", /Expected a value >= 16/],
    [{ max_output_tokens: 101 }, "limits", /too large/],
  ],
  "google-generative-ai": [
    [{ extra: 1 }, "required", /Unknown name "extra"/],
    [{ contents: [] }, "required", /contents is not specified/],
    [{ contents: [{ role: "assistant", parts: [{ text: "x" }] }] }, "content", /valid role/],
    [{ contents: [turn()] }, "content", /must not be empty/],
    [{ contents: [turn({ text: "" })] }, "content", /must not be empty/],
    [{ contents: [turn({})] }, "content", /oneof field 'data'/],
    [
      { contents: [turn({ text: "x", thoughtSignature: "?" })] },
      "content",
      /Base64 decoding failed/,
    ],
    [{ contents: [model({ text: "x" })] }, "content", /first turn/],
    [
      { contents: [turn({ text: "x" }), model(called("a", "1a")), turn(answered("a", "1a"))] },
      "calls",
      /Invalid function name/,
    ],
    [
      {
        contents: [
          turn({ text: "x" }),
          model(called("a"), called("a")),
          turn(answered("a"), answered("a")),
        ],
      },
      "calls",
      /Duplicate/,
    ],
    [
      { contents: [turn({ text: "x" }), model(called("a")), turn({ text: "y" })] },
      "pairs",
      /number of function response parts/,
    ],
    [
      { contents: [turn({ text: "x" }), turn(answered("a"))] },
      "pairs",
      /immediately after a function call/,
    ],
    [
      { contents: [turn({ text: "x" }), model(called("a")), turn(answered("b"))] },
      "pairs",
      /does not match/,
    ],
    [googleTool("a b"), "tools", /Invalid function name/],
    [googleTool("a", { type: "array" }), "tools", /type OBJECT/],
    [
      googleTool("a", { type: "object", properties: { a: { enum: [] } } }),
      "tools",
      /non-empty array/,
    ],
    [
      { generationConfig: { thinkingConfig: { thinkingBudget: 1, thinkingLevel: "LOW" } } },
      "thinking",
      /only one/,
    ],
    [{ generationConfig: { maxOutputTokens: 101 } }, "limits", /supported range/],
  ],
};

const check = (api: Vendor, body: Json) =>
  findRefusal({ api, path: "/v1beta/models/m:streamGenerateContent", headers: {}, body }, memory());

describe("images for Anthropic's models", () => {
  const source = { type: "base64", media_type: "image/png", data: "AA==" };
  const images = (count: number) =>
    anthropic(user(Array.from({ length: count }, () => ({ type: "image", source }))));
  const refusalOf = (contextWindow: number | undefined, count: number) => {
    const body = { ...valid["anthropic-messages"], max_tokens: 1, ...images(count) };
    const models = new Map(contextWindow ? [["m", { contextWindow, maxTokens: 100 }]] : []);
    const request = { api: "anthropic-messages" as const, path: "/v1/messages", headers: {}, body };
    return findRefusal(request, { signed: new Map(), models })?.message;
  };

  it("are limited to 100 up to a window of 200 000 tokens, and to 600 above", () => {
    expect(refusalOf(200_000, 100)).toBeUndefined();
    expect(refusalOf(200_000, 101)).toContain("too many images");
    for (const window of [1_000_000, undefined]) {
      expect(refusalOf(window, 600)).toBeUndefined();
      expect(refusalOf(window, 601)).toContain("too many images");
    }
  });
});

describe("changes between messages", () => {
  const added = (name: string, more: Json = {}): Json => ({
    ...{ type: "additional_tools", role: "developer" },
    tools: [{ type: "function", name, parameters: schema }],
    ...more,
  });
  const update = (reasoning: Json): Json => ({ type: "configuration_update", reasoning });
  const input = (...items: Json[]): Json => ({ input: [said("x"), ...items] });

  it("are items for tools and effort in Responses", () => {
    const refusalOf = (items: Json) =>
      check("openai-responses", { ...valid["openai-responses"], ...items })?.rule;
    expect(refusalOf(input(added("edit"), update({ effort: "high" })))).toBeUndefined();
    expect(refusalOf(input(added("edit", { role: "user" })))).toBe("content");
    expect(refusalOf(input(added("edit", { tools: [] })))).toBe("content");
    expect(refusalOf(input(update({})))).toBe("content");
    expect(refusalOf(input(added("edit"), added("edit")))).toBe("tools");
  });

  it("are system messages that add tools in chat completions", () => {
    const tools = (name: string): Json => ({
      role: "system",
      tools: [{ type: "function", function: { name, parameters: schema } }],
    });
    const refusalOf = (...more: Json[]) => {
      const body = valid["openai-completions"];
      const messages = [...(body.messages as Json[]), ...more];
      return check("openai-completions", { ...body, messages })?.rule;
    };
    expect(refusalOf(tools("edit"))).toBeUndefined();
    expect(refusalOf(tools("edit"), tools("edit"))).toBe("tools");
    expect(refusalOf({ role: "system", tools: [] })).toBe("content");
  });
});

describe.each(Object.keys(cases) as Vendor[])("the rules of %s", (api) => {
  it("accept a valid request", () => {
    expect(check(api, valid[api])).toBeUndefined();
  });

  it.each(cases[api])("refuse %j by the rule %s", (change, rule, words) => {
    const { api: of, rule: name, message = "" } = check(api, { ...valid[api], ...change }) ?? {};
    expect([of, name]).toEqual([api, rule]);
    expect(message).toMatch(words);
  });
});
