import type { LlmMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import { ProviderError, type ProviderErrorCode } from "../errors.ts";
import { createStream } from "../stream.ts";
import { fittingLimit } from "./fitting-limit.ts";

const model = { contextWindow: 262_144, maxTokens: 262_144 } as Model;

/** The limit after a request for `asked` tokens was refused with this message. */
function limitAfter(
  message: string,
  asked: number,
  code: ProviderErrorCode = "context_overflow",
): number | undefined {
  const error = new ProviderError({ code, message, status: 400 });
  return fittingLimit(error, model, { maxTokens: asked, inputTokens: 0 });
}

describe("the output limit after a refusal", () => {
  it.each([
    [
      '400 {"error":{"message":"input length and `max_tokens` exceed context limit: 169000 + 32000 > 200000, decrease input length or `max_tokens` and try again"}}',
      32_000,
      31_000,
    ],
    [
      "400 This model's maximum context length is 262144 tokens. However, you requested 262200 tokens (1700 in the messages, 260500 in the completion). Please reduce the length of the messages or completion.",
      260_500,
      260_444,
    ],
    [
      "This endpoint's maximum context length is 262144 tokens. However, you requested about 270000 tokens (10000 of text input, 2000 of tool input, 258000 in the output).",
      258_000,
      250_144,
    ],
    [
      "'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 1700 input tokens (32000 > 32768 - 1700).",
      32_000,
      31_068,
    ],
    [
      "This model's maximum context length is 8192 tokens. However, you requested 8000 output tokens and your prompt contains at least 193 input tokens, for a total of at least 8193 tokens.",
      8_000,
      7_999,
    ],
    [
      "Requested token count exceeds the model's maximum context length of 32,768 tokens. You requested a total of 40,000 tokens: 8,000 tokens from the input messages and 32,000 tokens for the completion.",
      32_000,
      24_768,
    ],
    [
      "Invalid request: Your request exceeded model token limit: 262144 (requested: 263844)",
      262_000,
      260_300,
    ],
    [
      "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 3000 `inputs` tokens and 2000 `max_new_tokens`",
      2_000,
      1_096,
    ],
  ])("follows the vendor's numbers: %s", (message, asked, room) => {
    expect(limitAfter(message, asked)).toBe(room - 16);
    expect(limitAfter(message, asked, "invalid_request")).toBe(room - 16);
  });

  it.each([
    ["prompt is too long: 210000 tokens > 200000 maximum", 32_000],
    ["Prompt has 300,000 tokens, but the configured context size is 262,144 tokens", 32_000],
    [
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      4_000,
    ],
    ["input length and `max_tokens` exceed context limit: 199900 + 32000 > 200000", 32_000],
    ["Your input exceeds the context window of this model.", 32_000],
    ["max_tokens: 99000 > 64000, which is the maximum allowed number of output tokens", 99_000],
  ])("is unchanged if the input is too long: %s", (message, asked) => {
    expect(limitAfter(message, asked)).toBeUndefined();
  });

  it("is unchanged for failures of another kind", () => {
    const message =
      "you requested 262200 tokens (1700 in the messages, 260500 in the completion), limit 262144";
    expect(limitAfter(message, 260_500, "rate_limited")).toBeUndefined();
  });
});

it("is reduced once, even if the vendor gives different numbers each time", async () => {
  const asked: number[] = [];
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    const { max_tokens: output } = JSON.parse(String(init?.body));
    asked.push(output);
    const message = `input length and \`max_tokens\` exceed context limit: ${201_000 - output} + ${output} > 200000`;
    return Response.json({ error: { type: "invalid_request_error", message } }, { status: 400 });
  };
  const vendor: Model = {
    ...{ id: "m", name: "M", api: "anthropic-messages", provider: "p" },
    ...{ baseUrl: "https://vendor.invalid", reasoning: false, input: ["text"] },
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    ...{ contextWindow: 200_000, maxTokens: 100_000 },
  };
  const messages: LlmMessage[] = [{ role: "user", content: "Hi", timestamp: 1 }];
  for await (const _ of createStream()(vendor, { messages }, { apiKey: "k", fetch }));
  expect(asked).toEqual([100_000, 98_984]);
});
