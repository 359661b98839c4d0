import { afterEach, describe, expect, it, vi } from "vitest";
import { createStream } from "./stream.ts";
import { scriptedModel } from "./testing/scripted-provider.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

describe("the vendors' SDKs", () => {
  it.each([
    ["anthropic-messages", "claude-opus-4-0"],
    ["anthropic-messages", "claude-opus-4-6"],
    ["openai-completions", "gpt-4"],
    ["openai-responses", "gpt-4"],
    ["google-generative-ai", "gemini-2.0-flash"],
  ])("print nothing over %s, even about %s", async (api, id) => {
    vi.stubEnv("GOOGLE_API_KEY", "a");
    vi.stubEnv("GEMINI_API_KEY", "b");
    const printed = (["log", "info", "warn", "error", "debug"] as const).map((name) =>
      vi.spyOn(console, name).mockReturnValue(undefined),
    );
    const baseUrl = "https://vendor.invalid/v1";
    const model = { ...scriptedModel(), api, id, baseUrl, reasoning: true, maxTokens: 9000 };
    const fetch = async () =>
      new Response("", { headers: { "content-type": "text/event-stream" } });
    const context = { messages: [{ role: "user" as const, content: "Hi", timestamp: 1 }] };
    const options = { apiKey: "k", fetch, thinkingLevel: "high" as const };
    for await (const _ of createStream()(model, context, options));
    expect(printed.flatMap(({ mock }) => mock.calls)).toEqual([]);
  });
});
