import { expect, it } from "vitest";
import { startHost } from "../support/start-host.ts";

const extension = `
  import { getApiProvider } from "@mariozechner/pi-ai";
  export default function (pi) {
    const provider = getApiProvider("openai-codex-responses");
    if (provider === undefined) throw new Error("the API is missing");
    const zero = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const model = { id: "m", name: "M", reasoning: false, input: ["text"], cost: zero };
    pi.registerProvider("wrapped", {
      baseUrl: "http://127.0.0.1:9", apiKey: "k", api: "some-later-api",
      models: [{ ...model, contextWindow: 1000, maxTokens: 100 }],
    });
    pi.registerProvider("codex", {
      baseUrl: "http://127.0.0.1:9", apiKey: "k", api: "wrapping",
      streamSimple: (...given) => provider.streamSimple(...given),
      models: [{ ...model, contextWindow: 1000, maxTokens: 100 }],
    });
  }`;

it("an extension that uses an API the host lacks loads, and fails on use", async () => {
  const host = startHost({ files: { "e.ts": extension }, arguments: ["-e", "../e.ts"] });
  for (const provider of ["wrapped", "codex"]) {
    host.send({ type: "set_model", provider, modelId: "m" });
    await host.until({ "...": true, command: "set_model", success: true });
    host.send({ type: "prompt", message: "hi" });
    const result = await host.until({ "...": true, type: "prompt_result" });
    expect(result).toMatchObject({ status: "error", error: expect.stringMatching(/api|wrapping/) });
  }
  host.send({ type: "get_state" });
  await host.until({ "...": true, command: "get_state", success: true });
});
