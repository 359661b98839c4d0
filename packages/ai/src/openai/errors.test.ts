import { APIConnectionError, APIError } from "openai";
import { describe, expect, it } from "vitest";
import { streamedError } from "../error-body.ts";
import { classifyOpenAiError } from "./errors.ts";

const thrown = (status: number, error: object, headers: Record<string, string> = {}) =>
  classifyOpenAiError(APIError.generate(status, { error }, undefined, new Headers(headers)));

describe("classifyOpenAiError", () => {
  it.each([
    [401, { message: "Incorrect API key", type: "invalid_request_error" }, "auth"],
    [403, { message: "No access to the model" }, "auth"],
    [404, { message: "No such model", type: "invalid_request_error" }, "invalid_request"],
    [400, { message: "too long", code: "context_length_exceeded" }, "context_overflow"],
    [400, { message: "the request exceeds the available context size" }, "context_overflow"],
    [429, { message: "Slow down" }, "rate_limited"],
    [429, { message: "Pay first", code: "insufficient_quota" }, "quota"],
    [500, { message: "Oops", type: "server_error" }, "overloaded"],
    [503, { message: "model is loading" }, "overloaded"],
  ])("classifies a %i with %j as %s", (status, error, code) => {
    expect(thrown(status, error)).toMatchObject({ code, status });
  });

  it("keeps the retry delay and the upstream's message", () => {
    const error = { message: "Provider error", metadata: { raw: "queue full" } };
    const { message, retryAfterMs } = thrown(429, error, { "retry-after": "4" });
    expect(message).toBe("429 Provider error: queue full");
    expect(retryAfterMs).toBe(4000);
  });

  it("names the cause of a failed connection", () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), {
      code: "ECONNREFUSED",
    });
    const cause = new TypeError("fetch failed", { cause: refused });
    const { code, message } = classifyOpenAiError(new APIConnectionError({ cause }));
    expect(code).toBe("network");
    expect(message).toContain("ECONNREFUSED");
  });

  it("hides keys", () => {
    const { message } = thrown(401, { message: "Bad key sk-abcdefghijklmnopqrstuv" });
    expect(message).not.toContain("abcdefghijkl");
  });
});

describe("streamedError", () => {
  it.each([
    [{ code: 502, message: "upstream" }, "overloaded"],
    [{ code: "rate_limit_exceeded", message: "wait" }, "rate_limited"],
    [{ code: "server_error", message: "sorry" }, "overloaded"],
    [{ error: { message: "nested", code: 429 } }, "rate_limited"],
    ["just words", "overloaded"],
    [{ message: "bad tool", type: "x", code: 400 }, "invalid_request"],
  ])("classifies %j as %s", (value, code) => {
    expect(streamedError(value)).toMatchObject({ code });
  });

  it("keeps the retry delay given in the text", () => {
    const value = { code: "rate_limit_exceeded", message: "Please try again in 2s." };
    expect(streamedError(value).retryAfterMs).toBe(2000);
  });
});
