import { createStream } from "@tau-agent/ai";
import {
  type LoopbackApi,
  loopbackApis,
  startLoopbackServer,
  toolCall,
  turn,
} from "@tau-agent/ai/testing";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import { createTestSession, keyless } from "../../src/create/__fixtures__/test-session.ts";

const numbers = { type: "array", items: { type: "number" }, $comment: "no object at the root" };

/** A prompt for numbers over a vendor's wire format, whose server enforces the vendor's rules. */
async function ask(api: LoopbackApi, overrides: Partial<Model>, answers: "form" | "tool") {
  await using server = await startLoopbackServer({
    scenario: ({ index, tools }) => {
      const value = index === 0 ? "three" : [1, 2];
      const hasTool = tools.some(({ name }) => name === "structured_output");
      expect(hasTool).toBe(answers === "tool");
      return hasTool ? turn(toolCall("structured_output", { value })) : JSON.stringify({ value });
    },
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
  return { result, body: request?.body as Record<string, Record<string, unknown>> };
}

const expected = { output: [1, 2], outputStatus: "valid", outputAttempts: 2 };

describe("an answer of a given shape", () => {
  it.each(loopbackApis)("is given with a tool over %s", async (api) => {
    const { result } = await ask(api, {}, "tool");
    expect(result).toMatchObject(expected);
  });

  it("is asked for in OpenAI's own form, in both of its formats", async () => {
    const openai = { provider: "openai", id: "gpt-5.4" };
    const responses = await ask("openai-responses", openai, "form");
    expect(responses.result).toMatchObject(expected);
    expect(responses.body.text?.format).toMatchObject({ type: "json_schema", strict: false });
    const completions = await ask("openai-completions", openai, "form");
    expect(completions.result).toMatchObject(expected);
    expect(completions.body.response_format).toMatchObject({ type: "json_schema" });
  });

  it("is asked for with a tool where an older model of the vendor refuses the form", async () => {
    await ask("openai-responses", { provider: "openai", id: "gpt-4-turbo" }, "tool");
    await ask("google-generative-ai", { id: "gemini-2.5-pro" }, "tool");
  });

  it("is asked for in Google's own form, beside tools", async () => {
    const { result, body } = await ask("google-generative-ai", { id: "gemini-3-pro" }, "form");
    expect(result).toMatchObject(expected);
    expect(body.generationConfig).toMatchObject({ responseMimeType: "application/json" });
  });

  it("is asked for in the form of a server that models.json says to have it", async () => {
    const compat = { supportsOutputSchema: true };
    expect((await ask("openai-completions", { compat }, "form")).result).toMatchObject(expected);
  });

  it("leaves what thinking and caches are bound to as it was at Anthropic", async () => {
    const compat = { supportsOutputSchema: true };
    const { body } = await ask("anthropic-messages", { compat }, "tool");
    expect(body).not.toHaveProperty("output_config");
  });
});
