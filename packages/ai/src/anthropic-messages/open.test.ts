import type { Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import { openStream } from "./open.ts";
import { encodeRequest } from "./request.ts";

async function sentHeaders(
  given: Partial<Model>,
  apiKey: string,
  hasTool = false,
  temperature?: number,
) {
  const model: Model = {
    id: "m",
    name: "M",
    api: "anthropic-messages",
    provider: "anthropic",
    baseUrl: "https://api.anthropic.com",
    reasoning: true,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 200_000,
    maxTokens: 64_000,
    ...given,
  };
  let url = "";
  let headers = new Headers();
  const fetch: typeof globalThis.fetch = async (input, init) => {
    url = String(input);
    headers = new Headers(init?.headers);
    return new Response("", { headers: { "content-type": "text/event-stream" } });
  };
  const tools = hasTool ? [{ name: "t", description: "", parameters: {} }] : [];
  const options = { apiKey, fetch, sessionId: "s1", temperature, thinkingLevel: "low" } as const;
  const context = { messages: [{ role: "user" as const, content: "Hi", timestamp: 1 }], tools };
  await openStream(model, encodeRequest(model, context, options).request, options);
  return { url, get: (name: string) => headers.get(name) };
}

describe("openStream", () => {
  it("sends a key to the vendor only in the documented header", async () => {
    const { url, get } = await sentHeaders({}, "sk-ant-api-1");
    expect(url).toBe("https://api.anthropic.com/v1/messages");
    expect([get("x-api-key"), get("authorization")]).toEqual(["sk-ant-api-1", null]);
    expect(get("anthropic-version")).toBe("2026-10-21");
    expect(get("anthropic-beta")).toBeNull();
  });

  it("sends a login token as a bearer token with its beta", async () => {
    const { get } = await sentHeaders({}, "sk-ant-oat01-x", true);
    expect([get("x-api-key"), get("authorization")]).toEqual([null, "Bearer sk-ant-oat01-x"]);
    expect(get("anthropic-beta")).toBe("oauth-2025-04-20,interleaved-thinking-2025-05-14");
  });

  it("sends a key in both headers to other servers, and the session if they want it", async () => {
    const compat = { sendSessionAffinityHeaders: true };
    const { url, get } = await sentHeaders({ baseUrl: "https://x.test/api/v1/", compat }, "k");
    expect(url).toBe("https://x.test/api/v1/messages");
    expect([get("x-api-key"), get("authorization")]).toEqual(["k", "Bearer k"]);
    expect(get("x-session-affinity")).toBe("s1");
    expect(get("anthropic-version")).toBe("2023-06-01");
  });

  it("requests the API version that accepts a temperature when one is sent", async () => {
    const { get } = await sentHeaders({ reasoning: false }, "k", false, 0.5);
    expect(get("anthropic-version")).toBe("2023-06-01");
  });
});
