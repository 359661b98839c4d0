import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import type { AssistantMessage, Model, ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it, vi } from "vitest";
import { type Context, type StreamOptions, type StreamResult, stream } from "../src/index.ts";
import { wireFormats } from "../src/testing/routes.ts";
import { wires } from "./contract-wires.ts";

function modelFor(api: string, baseUrl = "http://vendor.invalid/v1"): Model {
  return {
    id: "x",
    name: "X",
    api,
    provider: "p",
    baseUrl,
    reasoning: false,
    input: ["text"],
    cost: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
    contextWindow: 100_000,
    maxTokens: 1000,
  };
}

const hello: Context = { messages: [{ role: "user", content: "Hello", timestamp: 1 }] };

async function finishReply(
  model: Model,
  context: Context,
  options: StreamOptions,
): Promise<StreamResult> {
  const reply = stream(model, context, { apiKey: "secret-key", ...options });
  for (;;) {
    const next = await reply.next();
    if (next.done) return next.value;
  }
}

function answer(
  status: number,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
) {
  const sent: { url: string; headers: Headers; body: string }[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    sent.push({ url: String(url), headers: new Headers(init?.headers), body: String(init?.body) });
    const type = status < 400 ? "text/event-stream" : "application/json";
    return new Response(body, { status, headers: { "content-type": type, ...headers } });
  };
  return { fetch, sent };
}

describe.each(wires)("$api", (wire) => {
  const { api, events, overflow, keyHeader, errorEvent, modelMember = "model" } = wire;
  const model = modelFor(api);
  const finish = (to: Model, context: Context, options: StreamOptions) =>
    finishReply(to, context, { environment: wire.environment, ...options });
  /** The bytes of events as they are transmitted. */
  const bytes = (text: string) => Buffer.from(wireFormats[api].toBytes?.(text) ?? text);

  it("streams a reply and sends the key in the vendor's header", async () => {
    const { fetch, sent } = answer(200, bytes(events.join("")));
    const { message, error } = await finish(model, hello, { fetch });
    expect(error).toBeUndefined();
    expect(message).toMatchObject({
      stopReason: "stop",
      content: [{ type: "text", text: "Hello" }],
    });
    expect(sent[0]?.headers.get(keyHeader)).toMatch(/^(?:Bearer )?secret-key$/);
    expect(sent[0]?.url).not.toContain("secret-key");
  });

  it("sends no key header without a key", async () => {
    const { fetch, sent } = answer(200, bytes(events.join("")));
    const { error } = await finish(modelFor(api, wire.openBaseUrl), hello, { fetch, apiKey: "" });
    expect(error).toBeUndefined();
    for (const name of [keyHeader, "authorization", "x-api-key", "api-key", "x-goog-api-key"]) {
      expect(sent[0]?.headers.get(name)).toBeNull();
    }
  });

  it("uses nothing from the environment that it was not given", async () => {
    vi.stubEnv("ANTHROPIC_CUSTOM_HEADERS", "X-Leak: leaked\nAuthorization: leaked");
    vi.stubEnv("OPENAI_CUSTOM_HEADERS", "X-Leak: leaked\nAuthorization: leaked");
    const names = ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_ORG_ID"];
    for (const name of [...names, "GEMINI_API_KEY", "GOOGLE_API_KEY"]) vi.stubEnv(name, "leaked");
    for (const vendor of ["ANTHROPIC", "OPENAI", "GOOGLE_GEMINI"]) {
      vi.stubEnv(`${vendor}_BASE_URL`, "https://leaked.invalid");
    }
    vi.stubEnv("GOOGLE_GENAI_USE_VERTEXAI", "true");
    const { fetch, sent } = answer(200, bytes(events.join("")));
    const { error } = await finish(model, hello, { fetch });
    vi.unstubAllEnvs();
    expect(error).toBeUndefined();
    expect(JSON.stringify([sent, [...(sent[0]?.headers ?? [])]])).not.toContain("leaked");
    expect(sent[0]?.url).toContain("http://vendor.invalid/v1/");
  });

  it("adds the caller's headers last; null deletes a header", async () => {
    const { fetch, sent } = answer(200, bytes(events.join("")));
    const own = { ...model, headers: { "x-one": "model", "x-two": "model" } };
    await finish(own, hello, { fetch, headers: { "x-one": "request", "x-two": null } });
    expect(sent[0]?.headers.get("x-one")).toBe("request");
    expect(sent[0]?.headers.get("x-two")).toBeNull();
  });

  it("lets a callback inspect and replace the payload before it is sent", async () => {
    const { fetch, sent } = answer(200, bytes(events.join("")));
    const seen: unknown[] = [];
    const onPayload = (payload: unknown): unknown => {
      seen.push(payload);
      return { ...(payload as object), [modelMember]: "replaced" };
    };
    await finish(model, hello, { fetch, onPayload });
    expect(seen).toMatchObject([{ [modelMember]: "x" }]);
    expect(`${sent[0]?.url}${sent[0]?.body}`).toContain("replaced");
  });

  it("ends as aborted on an abort during the stream, and stops reading", async () => {
    let isCancelled = false;
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      const body = new ReadableStream({
        start(controller) {
          const upTo = events.findIndex((event) => event.includes("Hello")) + 1;
          controller.enqueue(bytes(events.slice(0, upTo).join("")));
          init?.signal?.addEventListener("abort", () => controller.error(new Error("gone")));
        },
        cancel() {
          isCancelled = true;
        },
      });
      init?.signal?.addEventListener("abort", () => {
        isCancelled = true;
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    };
    const user = new AbortController();
    const types: string[] = [];
    const reply = stream(model, hello, { apiKey: "k", fetch, signal: user.signal });
    let result: StreamResult | undefined;
    while (result === undefined) {
      const next = await reply.next();
      if (next.done) result = next.value;
      else types.push(next.value.type);
      if (!next.done && next.value.type === "text_delta") setTimeout(() => user.abort(), 5);
    }
    expect(types.at(-1)).toBe("error");
    expect(result.message).toMatchObject({
      stopReason: "aborted",
      errorMessage: "Request was aborted",
      content: [{ text: "Hello" }],
    });
    expect(isCancelled).toBe(true);
  });

  it("treats an empty body as a failed connection", async () => {
    const { error } = await finish(model, hello, { fetch: answer(200, "").fetch });
    expect(error).toMatchObject({ code: "network", isRetryable: true });
  });

  it("treats a body truncated within an event as a failed connection", async () => {
    const first = bytes(events[0] ?? "");
    const body = bytes(events.join("")).subarray(0, first.length + 12);
    const { error } = await finish(model, hello, { fetch: answer(200, body).fetch });
    expect(error).toMatchObject({ isRetryable: true });
  });

  it("removes lone surrogates from everything it sends", async () => {
    const { fetch, sent } = answer(200, bytes(events.join("")));
    const context: Context = {
      systemPrompt: "Be\ud800 brief",
      messages: [
        { role: "user", content: [{ type: "text", text: "ok 👋 \udc00!" }], timestamp: 1 },
      ],
    };
    await finish(model, context, { fetch });
    expect(sent[0]?.body).not.toMatch(/\\ud800|\\udc00/i);
    expect(sent[0]?.body).toContain("ok 👋 !");
  });

  it("adds a result for a call without one, and drops a result without a call", async () => {
    const { fetch, sent } = answer(200, bytes(events.join("")));
    const call = { type: "toolCall", id: "t1", name: "read", arguments: {} } as const;
    const zero = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const asked: AssistantMessage = {
      role: "assistant",
      content: [call],
      api,
      provider: "p",
      model: "x",
      usage: { ...zero, cost: { ...zero, total: 0 } },
      stopReason: "toolUse",
      timestamp: 1,
    };
    const orphan: ToolResultMessage = {
      role: "toolResult",
      toolCallId: "t0",
      toolName: "read",
      content: [{ type: "text", text: "orphan" }],
      isError: false,
      timestamp: 1,
    };
    const context: Context = { messages: [...hello.messages, asked, orphan, ...hello.messages] };
    await finish(model, context, { fetch });
    expect(sent[0]?.body).toContain("No result provided");
    expect(sent[0]?.body).not.toContain("orphan");
  });

  it.each([
    [400, "overflow", "context_overflow", false],
    [413, "Payload too large", "context_overflow", false],
    [401, "Wrong key", "auth", false],
    [404, "No such model", "invalid_request", false],
    [402, "Your balance is used up", "quota", false],
    [429, "You exceeded your current quota, see your plan and billing", "rate_limited", true],
    [429, "Rate limit reached for requests", "rate_limited", true],
    [500, "Something broke (req 401-429)", "overloaded", true],
    [503, "Unavailable", "overloaded", true],
    [529, "Overloaded", "overloaded", true],
  ])("classifies %i %s", async (status, text, code, isRetryable) => {
    const body = JSON.stringify({
      error: { message: text === "overflow" ? overflow : text },
    });
    const { fetch, sent } = answer(status, body, { "retry-after": "3" });
    const { message, error } = await finish(model, hello, { fetch });
    expect(error).toMatchObject({ code, isRetryable, status });
    expect(error?.retryAfterMs).toBe(code === "quota" ? undefined : 3000);
    expect(message.errorMessage).toContain(text === "overflow" ? overflow : text);
    expect(sent).toHaveLength(1);
  });

  it.each([
    [
      "RESOURCE_EXHAUSTED",
      "Quota exceeded, check your billing. Retry in 4.2s",
      "rate_limited",
      4200,
    ],
    ["RESOURCE_EXHAUSTED", "Quota exceeded, check your billing", "rate_limited", undefined],
    ["insufficient_quota", "Try again in 620ms", "quota", undefined],
    ["1113", "Please recharge. Try again in 1m30s", "quota", undefined],
  ])("classifies an error in the stream by its code: %s %s", async (name, text, code, wait) => {
    const body = bytes(`${events[0]}${errorEvent(name, text)}`);
    const { error } = await finish(model, hello, { fetch: answer(200, body).fetch });
    expect(error).toMatchObject({ code, isRetryable: code === "rate_limited" });
    expect(error?.retryAfterMs).toBe(wait);
    expect(error?.message).toContain(text);
  });

  it("reports the status if an error body never ends", async () => {
    const fetch: typeof globalThis.fetch = async () => {
      const body = new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(97)),
      });
      return new Response(body, { status: 500, headers: { "content-type": "application/json" } });
    };
    const { error } = await finish(model, hello, { fetch });
    expect(error).toMatchObject({ code: "overloaded", status: 500 });
    expect(error?.message.length).toBeLessThan(5000);
  });

  it("does not treat comments as events", async () => {
    const fetch: typeof globalThis.fetch = async () => {
      const body = new ReadableStream({
        async pull(controller) {
          await new Promise((resolve) => setTimeout(resolve, 5));
          controller.enqueue(bytes(wire.signOfLife ?? ": still here\n\n"));
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    };
    const late = await finish(model, hello, { fetch, firstEventTimeoutMs: 60 });
    expect(late.error).toMatchObject({ code: "timeout", isRetryable: true });
    expect(late.error?.message).toContain("The model sent no event for 0.06 seconds");
    const silent = await finish(model, hello, { fetch, idleTimeoutMs: 60 });
    expect(silent.error?.message).toContain("The model went silent for 0.06 seconds");
  });

  it("prints nothing, whatever the model's name", async () => {
    const printed = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const { fetch } = answer(200, bytes(events.join("")));
    for (const id of ["claude-3-7-sonnet-20250219", "claude-opus-4-6", "gpt-4", "gemini-1.5-pro"]) {
      const old = { ...model, id, reasoning: true, maxTokens: 20_000 };
      await finish(old, hello, { fetch, thinkingLevel: "high" });
    }
    expect(printed.mock.calls).toEqual([]);
    printed.mockRestore();
  });

  it("never sends the key to another origin", async () => {
    const { fetch, sent } = answer(307, "", { location: "https://elsewhere.invalid/v1" });
    const { error } = await finish(model, hello, { fetch });
    expect(error).toMatchObject({ code: "invalid_request" });
    expect(error?.message).toContain("https://elsewhere.invalid");
    expect(sent).toHaveLength(1);
  });

  it("names the address that refuses the connection", async () => {
    const server = createSocketServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const { error } = await finish(modelFor(api, `http://127.0.0.1:${port}/v1`), hello, {});
    expect(error).toMatchObject({ code: "network", isRetryable: true });
    expect(error?.message).toContain(`connect ECONNREFUSED 127.0.0.1:${port}`);
  });

  it("sends later requests over the connection of the first", async () => {
    let connections = 0;
    const answered: Promise<unknown>[] = [];
    const server = createServer((request, response) => {
      answered.push(once(response, "close"));
      request.resume();
      request.on("end", () => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(bytes(events.join("")));
        // Most servers close the response shortly after the last data.
        setTimeout(() => response.end(), 5);
      });
    }).on("connection", () => connections++);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    for (let turn = 0; turn < 3; turn++) {
      const { error } = await finish(modelFor(api, `http://127.0.0.1:${port}/v1`), hello, {});
      expect(error).toBeUndefined();
      await Promise.all(answered);
      // The client still has to read the end.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(connections).toBe(1);
  });
});
