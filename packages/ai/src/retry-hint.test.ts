import { describe, expect, it } from "vitest";
import { readReset, readRetryAfter } from "./retry-hint.ts";

const now = Date.parse("2026-11-21T00:00:00Z");

describe("readReset", () => {
  const seconds = now / 1000;
  it.each<[object, Record<string, string>, number | undefined]>([
    [{ error: { type: "usage_limit_reached", resets_at: seconds + 60 } }, {}, 60_000],
    [{ error: { resets_at: "2026-11-21T01:00:00Z" } }, {}, 3_600_000],
    [{ error: { resets_in_seconds: 90 } }, {}, 90_000],
    [{ error: { resets_at: seconds - 60 } }, {}, undefined],
    [{ error: { resets_at: "soon" } }, {}, undefined],
    [{}, { "retry-after": "120" }, 120_000],
    [{}, { "anthropic-ratelimit-unified-reset": String(seconds + 300) }, 300_000],
    [{}, { "retry-after": "3" }, undefined],
    [
      {},
      {
        "anthropic-ratelimit-requests-reset": "2026-11-21T00:00:01Z",
        "anthropic-ratelimit-tokens-reset": "2026-11-21T00:01:00Z",
      },
      60_000,
    ],
    [{}, { "x-codex-primary-reset-after-seconds": "7200" }, 7_200_000],
    [{}, {}, undefined],
  ])("reads %j and %j", (body, headers, expected) => {
    expect(readReset({ body, headers: new Headers(headers) }, now)).toBe(expected);
  });
});

describe("readRetryAfter", () => {
  it.each<[Record<string, string>, number | undefined]>([
    [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
    [{ "retry-after": "7" }, 7000],
    [{ "retry-after": "0" }, 0],
    [{ "retry-after": "Sat, 21 Nov 2026 00:00:30 GMT" }, 30_000],
    [{ "retry-after": "Fri, 20 Nov 2026 00:00:30 GMT" }, 0],
    [{ "retry-after": "86400" }, 86_400_000],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "-5" }, undefined],
    [{ "retry-after-ms": "Infinity" }, undefined],
    [{ "x-ratelimit-reset": String(now + 5000) }, 5000],
    [{ "x-ratelimit-reset": String(now / 1000 + 6) }, 6000],
    [{ "x-ratelimit-reset": "8" }, 8000],
  ])("reads the headers %j", (headers, expected) => {
    expect(readRetryAfter({ headers: new Headers(headers) }, now)).toBe(expected);
  });

  it.each<[string, number | undefined]>([
    ["Please try again in 225ms.", 225],
    ["Please try again in 620ms", 620],
    ["Please try again in 4.2s. Visit https://x.test/billing", 4200],
    ["try again in 1m30s", 90_000],
    ["Please try again in 1h2m3.5s.", 3_723_500],
    ["Please retry in 34.07414s.", 34_074],
    ["Please retry after 26 seconds.", 26_000],
    ["Try again in 2 minutes and 5 seconds", 125_000],
    ["please wait 10 seconds", 10_000],
    ['{"retryDelay": "34s"}', 34_000],
    ["try again later", undefined],
    ["try again in 3 messages", undefined],
  ])("reads the text %j", (text, expected) => {
    expect(readRetryAfter({ text }, now)).toBe(expected);
  });

  it("reads the members of a body", () => {
    const info = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" };
    expect(readRetryAfter({ body: { code: 429, details: [{ x: 1 }, info] } }, now)).toBe(34_500);
    expect(readRetryAfter({ body: { error: { retry_after: 3 } } }, now)).toBe(3000);
    expect(readRetryAfter({ body: { retryDelay: { seconds: 3 } } }, now)).toBeUndefined();
  });

  it("prefers headers to the body, and the body to the text", () => {
    const body = { retryDelay: "2s" };
    const text = "try again in 3s";
    const headers = new Headers({ "retry-after": "1" });
    expect(readRetryAfter({ headers, body, text }, now)).toBe(1000);
    expect(readRetryAfter({ body, text }, now)).toBe(2000);
  });
});
