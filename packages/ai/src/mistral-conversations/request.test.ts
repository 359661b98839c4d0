import type { AssistantMessage, LlmMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import type { StreamOptions } from "../provider.ts";
import { emptyUsage } from "../reply/empty-usage.ts";
import { createStream } from "../stream.ts";

const model: Model = {
  id: "mistral-medium-latest",
  name: "Medium",
  api: "mistral-conversations",
  provider: "mistral",
  baseUrl: "https://api.mistral.ai",
  reasoning: true,
  input: ["text"],
  cost: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
  contextWindow: 100_000,
  maxTokens: 1000,
};

const user = (content: string): LlmMessage => ({ role: "user", content, timestamp: 1 });

async function send(
  messages: readonly LlmMessage[],
  options: StreamOptions = {},
  to: Partial<Model> = {},
) {
  let sent: { url: string; body: Record<string, unknown> } | undefined;
  const fetch: typeof globalThis.fetch = async (url, init) => {
    sent = { url: String(url), body: JSON.parse(String(init?.body)) };
    return new Response("{}", { status: 400 });
  };
  const stream = createStream();
  for await (const _ of stream(
    { ...model, ...to },
    { messages },
    { apiKey: "k", fetch, ...options },
  ));
  return sent;
}

function reply(from: Partial<AssistantMessage>, ...ids: string[]): AssistantMessage {
  return {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "Hm.", thinkingSignature: "content" },
      { type: "text", text: "Let me see." },
      ...ids.map((id) => ({ type: "toolCall" as const, id, name: "read", arguments: {} })),
    ],
    api: model.api,
    provider: model.provider,
    model: model.id,
    usage: emptyUsage(),
    stopReason: "toolUse",
    timestamp: 1,
    ...from,
  };
}

const result = (toolCallId: string): LlmMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content: [{ type: "text", text: "x" }],
  isError: false,
  timestamp: 1,
});

describe("a request to Mistral", () => {
  it.each([
    ["https://api.mistral.ai", "https://api.mistral.ai/v1/chat/completions"],
    ["https://api.mistral.ai/v1/", "https://api.mistral.ai/v1/chat/completions"],
    ["https://gateway.invalid/team", "https://gateway.invalid/team/chat/completions"],
  ])("to %s is sent to %s", async (baseUrl, url) => {
    expect((await send([user("Hi")], {}, { baseUrl }))?.url).toBe(url);
  });

  it("sends thinking back as the first part of the content", async () => {
    const sent = await send([user("Hi"), reply({}), user("And?")]);
    expect((sent?.body.messages as unknown[] | undefined)?.[1]).toEqual({
      role: "assistant",
      content: [
        { type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
        { type: "text", text: "Let me see." },
      ],
    });
  });

  it("has ids of nine letters or digits; each result has the id of its call", async () => {
    const given = [
      "abcDEF123",
      "toolu_01Ab|fc_9",
      "toolu_01Ab|fc_8",
      "call-with-a-long-name".repeat(4),
    ];
    const elsewhere = reply({ api: "anthropic-messages", model: "claude" }, ...given);
    const sent = await send([user("Hi"), elsewhere, ...given.map(result)]);
    const messages = sent?.body.messages as {
      tool_calls?: { id: string }[];
      tool_call_id?: string;
    }[];
    const ids = messages[1]?.tool_calls?.map(({ id }) => id) ?? [];
    expect(ids).toHaveLength(4);
    expect(ids[0]).toBe("abcDEF123");
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(new Set(ids).size).toBe(4);
    expect(messages.slice(2).map(({ tool_call_id: id }) => id)).toEqual(ids);
  });

  it.each<[StreamOptions["thinkingLevel"], Partial<Model>, string | undefined]>([
    ["off", {}, "none"],
    ["low", {}, "high"],
    ["low", { thinkingLevelMap: { off: null, low: "low" } }, "low"],
    ["off", { thinkingLevelMap: { off: null, low: "low" } }, undefined],
    ["high", { id: "magistral-small-2506" }, undefined],
    ["high", { reasoning: false }, undefined],
  ])("at level %s for %o requests effort %s", async (thinkingLevel, to, effort) => {
    const sent = await send([user("Hi")], { thinkingLevel }, to);
    expect(sent?.body.reasoning_effort).toBe(effort);
  });

  it("names the session for the prompt cache, and contains nothing that Mistral refuses", async () => {
    const sent = await send([user("Hi")], { sessionId: "s", cacheRetention: "long" });
    expect(sent?.body).toMatchObject({ prompt_cache_key: "s", max_tokens: 1000, stream: true });
    for (const member of ["stream_options", "store", "prompt_cache_retention"]) {
      expect(sent?.body).not.toHaveProperty(member);
    }
  });
});
