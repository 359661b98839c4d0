import type { Model } from "@tau-agent/rpc-protocol/messages";
import { expect, it } from "vitest";
import { createStream } from "./stream.ts";

const model = (api: string): Model => ({
  ...{ id: "m", name: "m", api, provider: "house", baseUrl: "http://house.test/v1" },
  ...{ reasoning: false, input: ["text"], contextWindow: 1000, maxTokens: 100 },
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
});

async function errorOf(api: string, body: string) {
  let requests = 0;
  const fetch: typeof globalThis.fetch = async () => {
    requests += 1;
    return new Response(body, { headers: { "content-type": "text/html; charset=utf-8" } });
  };
  const context = { messages: [{ role: "user" as const, content: "hi", timestamp: 0 }] };
  const stream = createStream()(model(api), context, { apiKey: "k", fetch });
  let step = await stream.next();
  while (!step.done) step = await stream.next();
  return { ...step.value, requests };
}

const page = "\n<!doctype html><title>Sign in</title>";

it.each([
  "anthropic-messages",
  "openai-completions",
  "openai-responses",
  "google-generative-ai",
  "mistral-conversations",
  "bedrock-converse-stream",
])("%s reports that the server answered with a web page, and does not retry", async (api) => {
  const { error, message, requests } = await errorOf(api, page);
  expect(message.errorMessage).toBe(
    "The server answered with a web page instead of a reply (house at http://house.test/v1). Check the base URL.",
  );
  expect(error).toMatchObject({ code: "invalid_request", isRetryable: false });
  expect(requests).toBe(1);
});

it("a stream labelled as a web page by its server is read as a stream", async () => {
  const chunk = { choices: [{ index: 0, delta: { content: "hi" }, finish_reason: "stop" }] };
  const body = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
  const { error, message } = await errorOf("openai-completions", body);
  expect(error).toBeUndefined();
  expect(message.content).toEqual([{ type: "text", text: "hi" }]);
});
