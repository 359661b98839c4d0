import { createStream } from "@tau-agent/ai";
import { type LoopbackApi, loopbackApis, startLoopbackServer } from "@tau-agent/ai/testing";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import { createTestSession, keyless } from "../../src/create/__fixtures__/test-session.ts";

const numbers = { type: "array", items: { type: "number" }, $comment: "no object at the root" };

/** A prompt for numbers in a vendor's wire format, on a server that enforces the vendor's rules. */
async function ask(api: LoopbackApi, overrides: Partial<Model>, answers: "form" | "text") {
  await using server = await startLoopbackServer({
    scenario: ({ index }) => JSON.stringify({ value: index === 0 ? "three" : [1, 2] }),
  });
  const model = server.model(api, overrides);
  const { session } = await createTestSession([], {
    model,
    providers: [keyless(model.provider)],
    stream: createStream(),
  });
  const result = await session.prompt("Count", { outputSchema: numbers });
  await session.dispose();
  expect(server.refusals).toEqual([]);
  const [request] = server.requests;
  const hasForm = /"(?:responseJsonSchema|json_schema|output_config)"/.test(
    JSON.stringify(request),
  );
  expect(hasForm).toBe(answers === "form");
  expect(JSON.stringify(request)).not.toContain("structured_output");
  return { result, body: request?.body as Record<string, Record<string, unknown>> };
}

const expected = { output: [1, 2], outputStatus: "valid", outputAttempts: 2 };

describe("an answer with a schema", () => {
  it.each(loopbackApis)("is requested in a message over %s", async (api) => {
    const { result } = await ask(api, {}, "text");
    expect(result).toMatchObject(expected);
  });

  it.each([
    ["openai-responses", { provider: "openai", id: "gpt-5.4" }],
    ["openai-completions", { provider: "openai", id: "gpt-5.4" }],
    ["anthropic-messages", { compat: { supportsOutputSchema: true } }],
    ["google-generative-ai", { id: "gemini-2.5-pro" }],
  ] as const)(
    "is requested in a message where %s would lose its cache or refuse the request",
    async (api, of) => {
      expect((await ask(api, of, "text")).result).toMatchObject(expected);
    },
  );

  it("is requested with Google's own parameter, next to tools", async () => {
    const { result, body } = await ask("google-generative-ai", { id: "gemini-3-pro" }, "form");
    expect(result).toMatchObject(expected);
    expect(body.generationConfig).toMatchObject({ responseMimeType: "application/json" });
  });

  it("is requested with the parameter of a server that supports it according to models.json", async () => {
    const compat = { supportsOutputSchema: true };
    expect((await ask("openai-completions", { compat }, "form")).result).toMatchObject(expected);
  });
});
