import { describe, expect, it } from "vitest";
import { createStream, type Model } from "../index.ts";
import { readVendorCost } from "./vendor-cost.ts";

describe("the cost of a reply reported by a vendor", () => {
  it.each<[string, object, number | undefined]>([
    ["OpenRouter", { cost: 0.25 }, 0.25],
    [
      "OpenRouter, with a key of the user's",
      { cost: 0.01, is_byok: true, cost_details: { upstream_inference_cost: 0.2 } },
      0.21,
    ],
    [
      "OpenRouter, with its own key",
      { cost: 0.25, is_byok: false, cost_details: { upstream_inference_cost: 0.2 } },
      0.25,
    ],
    ["Perplexity", { cost: { total_cost: 0.006 } }, 0.006],
    ["xAI", { cost_in_usd_ticks: 1_330_500 }, 0.000_133_05],
    ["DeepInfra", { estimated_cost: 0.5 }, 0.5],
    ["nobody", { prompt_tokens: 3 }, undefined],
    ["odd servers", { cost: "free", cost_details: [], estimated_cost: null }, undefined],
    ["odd servers", { cost: { total_cost: {} } }, undefined],
  ])("%s: %j", (_, usage, expected) => {
    if (expected === undefined) expect(readVendorCost(usage)).toBeUndefined();
    else expect(readVendorCost(usage)).toBeCloseTo(expected, 12);
  });

  const event = (data: { type?: string }) =>
    `${data.type === undefined ? "" : `event: ${data.type}\n`}data: ${JSON.stringify(data)}\n\n`;
  const replies: Readonly<Record<string, readonly object[]>> = {
    "openai-completions": [
      { choices: [{ delta: { content: "Hi" }, finish_reason: "stop" }] },
      { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, cost: 0.5 } },
    ],
    "openai-responses": [
      { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "m" } },
      { type: "response.output_text.delta", output_index: 0, item_id: "m", delta: "Hi" },
      {
        type: "response.completed",
        response: { status: "completed", usage: { input_tokens: 1, output_tokens: 1, cost: 0.5 } },
      },
    ],
    "anthropic-messages": [
      { type: "message_start", message: { id: "m", usage: { input_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn" },
        usage: { output_tokens: 1, cost: 0.5 },
      },
      { type: "message_stop" },
    ],
  };

  it.each(Object.keys(replies))("overrides the catalogue's rates over %s", async (api) => {
    const model: Model = {
      ...{ id: "m", name: "M", api, provider: "openrouter", baseUrl: "https://vendor.invalid/v1" },
      ...{ reasoning: false, input: ["text"], contextWindow: 100_000, maxTokens: 1000 },
      cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
    };
    const body = (replies[api] ?? []).map(event).join("");
    const headers = { "content-type": "text/event-stream" };
    const fetch = async () => new Response(body, { headers });
    const messages = [{ role: "user" as const, content: "Hi", timestamp: 1 }];
    const reply = createStream()(model, { messages }, { apiKey: "k", fetch });
    let next = await reply.next();
    while (!next.done) next = await reply.next();
    expect(next.value.message.stopReason).toBe("stop");
    expect(next.value.message.usage.cost.total).toBe(0.5);
  });
});
