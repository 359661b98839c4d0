import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { LlmMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import type { Context } from "../provider.ts";
import { createStream } from "../stream.ts";
import type { DocumentSource, DocumentText } from "./documents.ts";

const document: DocumentSource = {
  fileName: "a plan: 1.pdf",
  mimeType: "application/pdf",
  data: "JVBERi0=",
  pages: 2,
};
const block = (source: Partial<DocumentSource> = {}): DocumentText => ({
  type: "text",
  text: "text of the pages",
  document: { ...document, ...source },
});
const messages: LlmMessage[] = [
  { role: "user", content: [{ type: "text", text: "look" }, block()], timestamp: 1 },
];

/** The request sent over a wire format: that of its fixture with the given changes. */
async function sent(api: string, given: Partial<Model>, context: Partial<Context> = {}) {
  const path = join(import.meta.dirname, "..", api, "__fixtures__/history/input.json");
  const fixture = JSON.parse(readFileSync(path, "utf8"));
  const model: Model = {
    ...{ api, name: given.id ?? "", reasoning: false, input: ["text", "image"] },
    ...{ baseUrl: "https://vendor.invalid/v1", contextWindow: 200_000, maxTokens: 8192 },
    cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    ...fixture.model,
    ...given,
  };
  let body = "";
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    body = String(init?.body);
    return new Response("{}", { status: 400 });
  };
  const reply = createStream()(
    model,
    { messages, ...context },
    { apiKey: "key", ...fixture.options, fetch },
  );
  for (let next = await reply.next(); next.done !== true; ) next = await reply.next();
  return body;
}

const url = "data:application/pdf;base64,JVBERi0=";
const inline = '{"inlineData":{"data":"JVBERi0=","mimeType":"application/pdf"}}';
const file = `{"type":"file","file":{"filename":"a plan: 1.pdf","file_data":"${url}"}}`;
const inputFile = `{"type":"input_file","filename":"a plan: 1.pdf","file_data":"${url}"}`;
const anthropic =
  '"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0="},"title":"a plan: 1.pdf"';
const bedrock =
  '{"text":"File: a plan: 1.pdf"},{"document":{"name":"a plan 1 pdf","source":{"bytes":"JVBERi0="},"format":"pdf"}}';

describe.each([
  ["anthropic-messages", { baseUrl: "https://api.anthropic.com" }, anthropic],
  [
    "anthropic-messages",
    { baseUrl: "https://elsewhere.example", compat: { supportsDocuments: true } },
    anthropic,
  ],
  ["bedrock-converse-stream", { id: "us.anthropic.claude-sonnet-4-6" }, bedrock],
  ["google-generative-ai", { id: "gemini-3-pro" }, inline],
  ["google-vertex", { id: "gemini-3-pro" }, inline],
  ["openai-responses", { baseUrl: "https://api.openai.com/v1" }, inputFile],
  ["azure-openai-responses", {}, inputFile],
  ["openai-completions", { baseUrl: "https://api.openai.com/v1" }, file],
  ["openai-completions", { baseUrl: "https://openrouter.ai/api/v1" }, file],
] as const)("%s with %j", (api, model, expected) => {
  it("sends a PDF as a file", async () => {
    const body = await sent(api, model);
    expect(body).toContain(expected);
    expect(body).not.toContain("text of the pages");
  });

  it("sends the text to a model that reads no images", async () => {
    const body = await sent(api, { ...model, input: ["text"] });
    expect(body).toContain("text of the pages");
    expect(body).not.toContain("JVBERi0=");
  });
});

describe.each([
  ["anthropic-messages", { baseUrl: "https://elsewhere.example" }],
  [
    "anthropic-messages",
    { baseUrl: "https://api.anthropic.com", compat: { supportsDocuments: false } },
  ],
  ["bedrock-converse-stream", { id: "meta.llama4" }],
  ["google-generative-ai", { id: "gemma-3" }],
  ["mistral-conversations", {}],
  ["openai-codex-responses", {}],
  ["openai-responses", { baseUrl: "https://api.x.ai/v1" }],
  ["openai-completions", { baseUrl: "https://api.deepseek.com" }],
] as const)("%s with %j", (api, model) => {
  it("sends the text of a PDF", async () => {
    const body = await sent(api, model);
    expect(body).toContain("text of the pages");
    expect(body).not.toContain("JVBERi0=");
  });
});

describe("more files than an endpoint accepts", () => {
  const user = (...content: DocumentText[]): LlmMessage => ({
    role: "user",
    content,
    timestamp: 1,
  });
  const count = (body: string) => body.split("JVBERi0=").length - 1;

  it("are sent as text, and earlier files stay files when more are added", async () => {
    const claude = { id: "us.anthropic.claude-sonnet-4-6" };
    const six = [1, 2, 3, 4, 5, 6].map(() => user(block()));
    const body = await sent("bedrock-converse-stream", claude, { messages: six });
    expect(count(body)).toBe(5);
    const more = await sent("bedrock-converse-stream", claude, {
      messages: [...six, user(block())],
    });
    // Up to the first file sent as text, the requests are identical.
    const same = body.slice(0, body.indexOf("text of the pages"));
    expect(more.startsWith(same)).toBe(true);
    expect(same.length).toBeGreaterThan(500);
  });

  it("are counted in pages, depending on the model's window", async () => {
    const long = [user(block({ pages: 90 })), user(block({ pages: 90 }))];
    const baseUrl = "https://api.anthropic.com";
    expect(count(await sent("anthropic-messages", { baseUrl }, { messages: long }))).toBe(1);
    const wide = { baseUrl, contextWindow: 1_000_000 };
    expect(count(await sent("anthropic-messages", wide, { messages: long }))).toBe(2);
  });
});

it("puts a file read by a tool into the tool's result", async () => {
  const call = { type: "toolCall" as const, id: "toolu_1", name: "read", arguments: {} };
  const base = { api: "x", provider: "x", model: "x", timestamp: 1 };
  const usage = {
    input: 1,
    output: 1,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 2,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
  const history: LlmMessage[] = [
    { role: "user", content: "read it", timestamp: 1 },
    { role: "assistant", content: [call], ...base, usage, stopReason: "toolUse" },
    {
      role: "toolResult",
      toolCallId: "toolu_1",
      toolName: "read",
      content: [{ type: "text", text: "PDF of 2 pages" }, block()],
      isError: false,
      timestamp: 1,
    },
  ];
  const body = JSON.parse(
    await sent(
      "anthropic-messages",
      { baseUrl: "https://api.anthropic.com" },
      { messages: history },
    ),
  );
  expect(body.messages.at(-1).content[0].content).toMatchObject([
    { type: "text", text: "PDF of 2 pages" },
    { type: "document" },
  ]);
});
