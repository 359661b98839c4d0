import { describe, expect, it } from "vitest";
import { findRefusal } from "./index.ts";
import type { RuleRequest } from "./rule.ts";

const refusalOf = (request: Omit<RuleRequest, "headers">) =>
  findRefusal({ headers: {}, ...request }, { signed: new Map(), models: new Map() });

describe("the rules of Azure", () => {
  const api = "azure-openai-responses";
  const body = { model: "m", input: [{ role: "user", content: "Hi" }] };

  it.each([
    ["/openai/v1/responses", ""],
    ["/openai/v1/responses", "?api-version=preview"],
    ["/openai/responses", "?api-version=2025-04-01-preview"],
  ])("accept %s%s", (path, search) => {
    expect(refusalOf({ api, path, search, body })).toBeUndefined();
  });

  it.each([
    ["/openai/v1/responses", "?api-version=2025-04-01-preview"],
    ["/openai/responses", ""],
    ["/openai/responses", "?api-version=v1"],
  ])("refuse %s%s", (path, search) => {
    expect(refusalOf({ api, path, search, body })).toMatchObject({ api, rule: "version" });
  });

  it("include those of OpenAI", () => {
    const request = { api, path: "/openai/v1/responses", search: "" } as const;
    const refusal = refusalOf({ ...request, body: { ...body, input: [] } });
    expect(refusal).toMatchObject({ api, rule: "required" });
  });
});

describe("the rules of Bedrock", () => {
  const api = "bedrock-converse-stream";
  const path = "/model/anthropic.claude-sonnet-4-6/converse-stream";
  const say = (role: string, ...content: object[]) => ({ role, content });
  const use = (toolUseId = "a", input: unknown = {}) => ({
    toolUse: { toolUseId, name: "read", input },
  });
  const result = (toolUseId = "a") => ({ toolResult: { toolUseId, content: [{ text: "x" }] } });
  const tool = (name = "read", more: object = {}) => ({
    toolSpec: { name, inputSchema: { json: { type: "object" } }, ...more },
  });
  const hi = say("user", { text: "Hi" });
  const point = { cachePoint: { type: "default" } };
  const valid = {
    messages: [hi, say("assistant", { text: "Hm" }, use()), say("user", result(), point)],
    system: [{ text: "Be brief." }, point],
    toolConfig: { tools: [tool(), point] },
    inferenceConfig: { maxTokens: 5 },
  };

  it("accept a valid request", () => {
    expect(refusalOf({ api, path, body: valid })).toBeUndefined();
  });

  it.each<[string, object]>([
    ["required", { extra: 1 }],
    ["required", { messages: [] }],
    ["roles", { messages: [say("assistant", { text: "x" }), hi] }],
    ["roles", { messages: [hi, hi] }],
    ["roles", { messages: [hi, say("assistant", { text: "x" })] }],
    ["content", { messages: [say("user")] }],
    ["content", { messages: [say("user", { text: " " })] }],
    ["content", { messages: [say("user", { toolUse: {} })] }],
    ["content", { messages: [say("user", { image: { format: "tiff", source: { bytes: "x" } } })] }],
    ["content", { system: [{ text: "" }] }],
    ["calls", { messages: [hi, say("assistant", use("a|b")), say("user", result("a|b"))] }],
    ["calls", { messages: [hi, say("assistant", use("a", [])), say("user", result())] }],
    ["calls", { messages: [hi, say("assistant", use("a", { "": 1 })), say("user", result())] }],
    ["pairs", { messages: [hi, say("assistant", use()), hi] }],
    ["pairs", { messages: [say("user", result())] }],
    ["pairs", { messages: [hi, say("assistant", use()), say("user", { text: "x" }, result())] }],
    ["tools", { toolConfig: undefined }],
    ["tools", { toolConfig: { tools: [] } }],
    ["tools", { toolConfig: { tools: [tool("a b")] } }],
    ["tools", { toolConfig: { tools: [tool(), tool()] } }],
    ["tools", { toolConfig: { tools: [tool("read", { description: "" })] } }],
    ["cache-points", { system: [{ text: "x" }, point, point, point] }],
    [
      "thinking",
      { additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 5 } } },
    ],
    ["limits", { inferenceConfig: { maxTokens: 0 } }],
  ])("refuse by the rule %s: %j", (rule, change) => {
    expect(refusalOf({ api, path, body: { ...valid, ...change } })).toMatchObject({ api, rule });
  });

  it("allow cache points only for models that support them", () => {
    const llama = "/model/meta.llama4/converse-stream";
    expect(refusalOf({ api, path: llama, body: valid })).toMatchObject({ rule: "cache-points" });
  });
});

describe("the rules of Vertex AI", () => {
  const gemini = {
    api: "google-vertex",
    path: "/v1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent",
  } as const;
  const claude = {
    api: "anthropic-vertex",
    path: "/v1/publishers/anthropic/models/claude:streamRawPredict",
  } as const;
  const call = (more: object, part: object = {}) => ({
    contents: [
      { role: "user", parts: [{ text: "Hi" }] },
      { role: "model", parts: [{ functionCall: { name: "read", args: {}, ...more }, ...part }] },
      { role: "user", parts: [{ functionResponse: { name: "read", response: {}, ...more } }] },
    ],
  });
  const message = { max_tokens: 5, messages: [{ role: "user", content: "Hi" }] };
  const vertexMessage = { ...message, anthropic_version: "vertex-2023-10-16" };

  it("accept valid requests", () => {
    expect(refusalOf({ ...gemini, body: call({}) })).toBeUndefined();
    expect(refusalOf({ ...claude, body: vertexMessage })).toBeUndefined();
  });

  it("refuse what Google and Anthropic themselves accept", () => {
    expect(refusalOf({ ...gemini, body: call({ id: "a" }) })).toMatchObject({ rule: "parts" });
    const word = { thoughtSignature: "skip_thought_signature_validator" };
    expect(refusalOf({ ...gemini, body: call({}, word) })).toMatchObject({ rule: "parts" });
    expect(refusalOf({ ...claude, body: message })).toMatchObject({ rule: "version" });
    const named = { ...vertexMessage, model: "claude" };
    expect(refusalOf({ ...claude, body: named })).toMatchObject({ rule: "version" });
  });

  it("include those of Google and Anthropic", () => {
    expect(refusalOf({ ...gemini, body: { contents: [] } })).toMatchObject({ rule: "required" });
    const empty = { ...vertexMessage, messages: [] };
    expect(refusalOf({ ...claude, body: empty })).toMatchObject({
      api: "anthropic-vertex",
      rule: "required",
    });
  });
});

describe("the rules of Mistral", () => {
  const request = { api: "mistral-conversations", path: "/mistral/chat/completions" } as const;
  const user = { role: "user", content: "Hi" };
  const call = (id: string) => ({
    role: "assistant",
    content: "",
    tool_calls: [{ id, type: "function", function: { name: "read", arguments: "{}" } }],
  });
  const result = (id: string) => ({ role: "tool", tool_call_id: id, name: "read", content: "x" });
  const think = { type: "thinking", thinking: [{ type: "text", text: "Hm" }] };
  const say = (...content: object[]) => ({ role: "assistant", content });
  const valid = {
    model: "m",
    messages: [
      user,
      say(think, { type: "text", text: "x" }),
      call("abcDEF123"),
      result("abcDEF123"),
    ],
  };

  it("accept a valid request", () => {
    expect(refusalOf({ ...request, body: valid })).toBeUndefined();
  });

  it.each<[string, object]>([
    ["required", { store: false }],
    ["required", { stream_options: { include_usage: true } }],
    ["ids", { messages: [user, call("call_1"), result("call_1")] }],
    ["content", { messages: [user, { role: "assistant", content: "" }, user] }],
    ["content", { messages: [user, say({ type: "text", text: "x" }, think), user] }],
    ["content", { messages: [{ role: "user", content: Array(9).fill({ type: "image_url" }) }] }],
    ["pairs", { messages: [user, call("abcDEF123"), user] }],
  ])("refuse by the rule %s: %j", (rule, change) => {
    const refusal = refusalOf({ ...request, body: { ...valid, ...change } });
    expect(refusal).toMatchObject({ api: "mistral-conversations", rule });
  });
});
