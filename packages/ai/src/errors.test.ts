import { describe, expect, it } from "vitest";
import { classifyFailure, isContextOverflow, isProviderError, ProviderError } from "./errors.ts";

describe("isContextOverflow", () => {
  it.each([
    "prompt is too long: 213462 tokens > 200000 maximum",
    "Input is too long for requested model.",
    "Your input exceeds the context window of this model",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
    "Please reduce the length of the messages or completion",
    "This endpoint's maximum context length is 128000 tokens. However, you requested 150000",
    "the request exceeds the available context size, try increasing it",
    "tokens to keep from the initial prompt is greater than the context length",
    "invalid params, context window exceeds limit",
    "Your request exceeded model token limit: 262144",
    "Prompt contains 99999 tokens, too large for model with 32768 maximum context length",
    "prompt too long; exceeded max context length by 4 tokens",
    "Range of input length should be [1, 30720]",
    "The input (32769 tokens) is longer than the model's context length (32768 tokens).",
    "prompt token count of 140000 exceeds the limit of 128000",
    "exceeds the maximum context length",
    "model_context_window_exceeded",
    "Prompt has 300,000 tokens, but the configured context size is 262,144 tokens",
    "The input has 300000 tokens; the context window is 262144",
    "413 (no body)",
    "400 status code (no body)",
  ])("recognises %j", (text) => {
    expect(isContextOverflow(text)).toBe(true);
  });

  it.each([
    "Rate limit reached: too many tokens per minute",
    "Throttling: too many tokens",
    "Too many requests",
    "Rate limit: 300,000 tokens per minute for prompts of this context size",
    "max_tokens must be at most 8192",
    "Overloaded",
  ])("does not recognise an overflow in %j", (text) => {
    expect(isContextOverflow(text)).toBe(false);
  });
});

describe("classifyFailure", () => {
  it.each([
    ["overloaded_error", "Overloaded", "overloaded"],
    ["rate_limit_error", "too many tokens per minute", "rate_limited"],
    ["insufficient_quota", "x", "quota"],
    ["authentication_error", "invalid x-api-key", "auth"],
    ["invalid_request_error", "messages: at least one message is required", "invalid_request"],
    ["invalid_request_error", "prompt is too long: 9 tokens > 8 maximum", "context_overflow"],
    ["invalid_request_error", "Your credit balance is too low", "quota"],
    ["RESOURCE_EXHAUSTED", "Resource has been exhausted", "rate_limited"],
    ["rate_limit_exceeded", "Upgrade at https://x.test/billing", "rate_limited"],
    ["exceeded_current_quota_error", "Try again in 3s", "quota"],
    ["1113", "Please recharge", "quota"],
    ["constructor", "no code of a vendor", "unknown"],
    ["invalid_prompt", "The check of the prompt timed out", "invalid_request"],
    ["unsupported_value", "The server is overloaded with options", "invalid_request"],
    ["invalid_api_key", "x", "auth"],
    ["vector_store_timeout", "x", "timeout"],
    ["context_length_exceeded", "x", "context_overflow"],
  ])("prefers the vendor's code %s (%s)", (vendorCode, message, code) => {
    expect(classifyFailure({ vendorCode, message }).code).toBe(code);
  });

  it.each([
    "You exceeded your current quota, please check your plan and billing details.",
    "Rate limit reached. Need more tokens? Visit https://console.groq.com/settings/billing",
    "Insufficient balance or no resource package",
  ])("retries a 429 with the text %j, with or without a retry hint", (message) => {
    const headers = new Headers({ "retry-after": "7" });
    const hinted = classifyFailure({ status: 429, message, headers });
    expect(hinted).toMatchObject({ code: "rate_limited", retryAfterMs: 7000 });
    const plain = classifyFailure({ status: 429, message });
    expect(plain.code).toBe("rate_limited");
    expect(plain.retryAfterMs).toBeUndefined();
  });

  it.each(["insufficient_quota", "billing_error", "exceeded_current_quota_error", "1113"])(
    "never retries a 429 with code %s, with or without a retry hint",
    (code) => {
      const headers = new Headers({ "retry-after": "7" });
      for (const vendorCode of [code, ["rate_limit_error", code]]) {
        const failure = { status: 429, message: "Try again in 4.2s", vendorCode };
        expect(classifyFailure({ ...failure, headers }).code).toBe("quota");
        expect(classifyFailure(failure).code).toBe("quota");
      }
    },
  );

  it("treats the first word of an error text as its code", () => {
    const of = (message: string) => classifyFailure({ status: 429, message }).code;
    expect(of("insufficient_quota: Try again in 3s")).toBe("quota");
    expect(of("429 billing_error: Pay")).toBe("quota");
    expect(of("Note: billing")).toBe("rate_limited");
  });

  it("uses the text if there is neither a code nor a status", () => {
    const of = (message: string) => classifyFailure({ message });
    expect(of("You exceeded your current quota").code).toBe("quota");
    expect(of("You exceeded your current quota. Please retry in 4.2s.")).toMatchObject({
      code: "rate_limited",
      retryAfterMs: 4200,
    });
    expect(of("Rate limit reached, see your plan and billing").code).toBe("rate_limited");
  });

  it("treats an output limit that does not fit next to the input as an overflow", () => {
    const message =
      "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again";
    const failure = { status: 400, vendorCode: "invalid_request_error", message };
    expect(classifyFailure(failure).code).toBe("context_overflow");
  });

  it("uses the reset time of a limit as a hint only for rate limits", () => {
    const headers = new Headers({ "x-ratelimit-reset": "3600" });
    const of = (status: number) => classifyFailure({ status, message: "x", headers }).retryAfterMs;
    expect(of(429)).toBeCloseTo(3_600_000, -2);
    expect(of(529)).toBeUndefined();
  });

  it("is not misled by digits in ids and sizes", () => {
    expect(classifyFailure({ status: 400, message: "Bad field (request 503-429)" }).code).toBe(
      "invalid_request",
    );
    expect(classifyFailure({ message: "request req_429503 failed" }).code).toBe("unknown");
    expect(classifyFailure({ message: "429 from upstream" }).code).toBe("rate_limited");
  });

  it("finds the system's error text behind an SDK's error", () => {
    const system = Object.assign(new Error("getaddrinfo ENOTFOUND nowhere.invalid"), {
      code: "ENOTFOUND",
    });
    const cause = new Error("Connection error.", {
      cause: new TypeError("fetch failed", { cause: new AggregateError([system]) }),
    });
    expect(classifyFailure({ message: "Connection error.", cause })).toMatchObject({
      code: "network",
      message: "getaddrinfo ENOTFOUND nowhere.invalid",
    });
    const slow = Object.assign(new Error("Headers Timeout Error"), {
      code: "UND_ERR_HEADERS_TIMEOUT",
    });
    expect(classifyFailure({ message: "x", cause: slow })).toMatchObject({
      code: "timeout",
      message: "Headers Timeout Error (UND_ERR_HEADERS_TIMEOUT)",
    });
  });

  it("adds the root cause to an SDK's generic text", () => {
    const cause = new Error("Connection error.", {
      cause: new TypeError("fetch failed", { cause: new Error("bad port") }),
    });
    expect(classifyFailure({ message: "Connection error.", cause })).toMatchObject({
      code: "network",
      message: "Connection error: bad port",
    });
  });

  it("keeps only the beginning of a very long answer", () => {
    const { message } = classifyFailure({ status: 502, message: `<html>${"x".repeat(1_000_000)}` });
    expect(message).toMatch(/^502 <html>x+… \(996006 more characters\)$/);
    expect(message.length).toBeLessThan(4100);
  });

  it("returns a typed error that an SDK has wrapped", () => {
    const own = new ProviderError({ code: "invalid_request", message: "redirect" });
    expect(classifyFailure({ message: "x", cause: new Error("y", { cause: own }) })).toBe(own);
    expect(isProviderError(own)).toBe(true);
    expect(isProviderError(new Error("z"))).toBe(false);
  });

  it("recognises a status as the first word, and no other number there", () => {
    const of = (message: string) => classifyFailure({ message });
    expect(of('401 {"error":{"message":"no"}}')).toMatchObject({ code: "auth", status: 401 });
    expect(of("503 status code (no body)")).toMatchObject({ code: "overloaded", status: 503 });
    expect(of("401 of 500 files are there")).toEqual({
      code: "unknown",
      message: "401 of 500 files are there",
    });
  });

  it("includes the status and hides keys", () => {
    const message = "Incorrect API key provided: sk-proj-abcdefghijklmnop";
    expect(classifyFailure({ status: 401, message }).message).toBe(
      "401 Incorrect API key provided: [redacted]",
    );
  });
});
