import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { fakeRegistry } from "./__fixtures__/fake-registry.ts";
import { addLocalServers } from "./add-local-servers.ts";
import { localOrigins } from "./local/addresses.ts";
import { findLocalServers } from "./local-servers.ts";

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server with these answers by path; for a POST, the model in the body selects the answer. */
function answering(answers: Readonly<Record<string, unknown>>): Promise<string> {
  return serve(async (request, response) => {
    let body = "";
    for await (const piece of request) body += String(piece);
    const { model = "" } = body === "" ? {} : (JSON.parse(body) as { model?: string });
    const answer = answers[`${request.url}${model}`];
    if (answer === undefined) response.writeHead(404);
    response.end(typeof answer === "string" ? answer : JSON.stringify(answer ?? {}));
  });
}

const ollama = {
  "/v1/models": { data: [{ id: "big", owned_by: "library" }] },
  "/api/tags": {
    models: [{ name: "big" }, { name: "set" }, { name: "own" }, { name: "bert" }, { name: 3 }],
  },
  "/api/ps": { models: [{ name: "own", context_length: 65_536 }] },
  "/api/showbig": {
    capabilities: ["completion", "tools", "vision"],
    model_info: { "qwen3.context_length": 262_144 },
  },
  "/api/showset": { capabilities: ["completion"], parameters: "temperature 1\nnum_ctx   16384\n" },
  "/api/showown": { capabilities: ["completion"] },
  "/api/showbert": { capabilities: ["embedding"] },
};
const lmStudio = {
  "/v1/models": { data: [{ id: "see" }] },
  "/api/v0/models": {
    data: [
      { id: "later", type: "llm", state: "not-loaded", max_context_length: 131_072 },
      { id: "see", type: "vlm", state: "loaded", loaded_context_length: 8192 },
      { id: "vectors", type: "embeddings" },
    ],
  },
};
const llamaCpp = {
  "/v1/models": { data: [{ id: "gguf", owned_by: "llamacpp" }] },
  "/api/tags": { models: [{ name: "gguf" }] },
  "/props": { default_generation_settings: { n_ctx: 40_960 }, modalities: { vision: true } },
};
const vllm = { "/v1/models": { data: [{ id: "q", owned_by: "vllm", max_model_len: 32_768 }] } };

describe("a server on this machine", () => {
  it.each([
    [
      "ollama",
      ollama,
      [
        ["own", 65_536, ["text"]],
        ["big", 32_768, ["text", "image"]],
        ["set", 16_384, ["text"]],
      ],
    ],
    [
      "lm-studio",
      lmStudio,
      [
        ["see", 8192, ["text", "image"]],
        ["later", 131_072, ["text"]],
      ],
    ],
    ["llama.cpp", llamaCpp, [["gguf", 40_960, ["text", "image"]]]],
    ["vllm", vllm, [["q", 32_768, ["text"]]]],
  ])(
    "is recognised as %s by its answers, with the context windows it reports",
    async (kind, answers, expected) => {
      const origin = await answering(answers);
      const [found, ...more] = await findLocalServers({ addresses: [origin] });
      expect(more).toEqual([]);
      expect(found).toMatchObject({ kind, origin });
      const models = found?.provider.models([]) ?? [];
      const told = models.map(({ id, contextWindow, input }) => [id, contextWindow, input]);
      expect(told).toEqual(expected);
      for (const model of models) {
        expect(model).toMatchObject({ api: "openai-completions", baseUrl: `${origin}/v1` });
        expect(model.maxTokens).toBeLessThanOrEqual(model.contextWindow);
      }
    },
  );

  it.each([
    ["a web page", { "/v1/models": "<html>", "/api/tags": "<html>" }],
    [
      "another server of the format",
      { "/v1/models": { data: [{ id: "m", owned_by: "someone" }] } },
    ],
    ["no models", { "/api/tags": { models: [] } }],
    ["odd values", { "/v1/models": { data: "no" }, "/api/tags": { models: [null, 3] } }],
    ["endless text", { "/api/tags": `{"models":[{"name":"${"x".repeat(5_000_000)}"}]}` }],
  ])("is not used if it answers with %s", async (_, answers) => {
    expect(await findLocalServers({ addresses: [await answering(answers)] })).toEqual([]);
  });

  it("takes at most the shared time limit if it never answers, and hides no other server", async () => {
    const silent = await serve(() => undefined);
    const good = await answering(vllm);
    const addresses = [silent, "http://127.0.0.1:1", "not an address", good];
    const found = await findLocalServers({ addresses, timeoutMs: 1000 });
    expect(found.map(({ origin }) => origin)).toEqual([good]);
  });

  it("is not followed if it redirects elsewhere", async () => {
    const good = await answering(vllm);
    const moved = await serve((request, response) => {
      response.writeHead(307, { location: `${good}${request.url}` }).end();
    });
    expect(await findLocalServers({ addresses: [moved] })).toEqual([]);
  });

  it("has a separate id beside another server of its kind", async () => {
    const addresses = [await answering(vllm), await answering(vllm)];
    const ids = (await findLocalServers({ addresses })).map(({ provider }) => provider.id);
    expect(ids).toEqual(["vllm", `vllm-${new URL(addresses[1] ?? "").port}`]);
  });
});

describe("the addresses of local servers", () => {
  const usual = ["http://127.0.0.1:1234", "http://127.0.0.1:8080", "http://127.0.0.1:8000"];
  it.each([
    [undefined, ["http://127.0.0.1:11434", ...usual]],
    ["", ["http://127.0.0.1:11434", ...usual]],
    ["0.0.0.0", ["http://127.0.0.1:11434", ...usual]],
    ["box:9000", ["http://box:9000", ...usual]],
    ["https://box.example.com", ["https://box.example.com", ...usual]],
  ])("are those expected with OLLAMA_HOST %j", (value, expected) => {
    expect(localOrigins(undefined, { OLLAMA_HOST: value })).toEqual(expected);
  });

  it("are taken from the setting; an empty list means none", () => {
    expect(localOrigins(["127.0.0.1:5000", "http://x/v1"], { OLLAMA_HOST: "y" })).toEqual([
      "http://127.0.0.1:5000",
      "http://x",
    ]);
    expect(localOrigins([], {})).toEqual([]);
  });
});

describe("a registry", () => {
  it("gets the servers that answer, and a diagnostic that names the model used", async () => {
    const { registry } = fakeRegistry({ lists: {} });
    const origin = await answering(vllm);
    const [diagnostic] = await addLocalServers(registry, { addresses: [origin] });
    expect(diagnostic).toMatchObject({
      code: "local_server",
      message: `No model with a key is named: using q of vLLM at ${origin}, window 32768 tokens`,
    });
    expect(await registry.availableProviders()).toEqual(["vllm"]);
  });

  it("ignores a server of an unknown kind and says how to configure it", async () => {
    const { registry } = fakeRegistry({ lists: {} });
    const list = { data: [{ id: "text-embedding" }, { id: "m", owned_by: "someone" }] };
    const origin = await answering({ "/v1/models": list });
    const [diagnostic, ...more] = await addLocalServers(registry, { addresses: [origin] });
    expect(more).toEqual([]);
    expect(diagnostic?.code).toBe("local_server_unknown");
    const [, said = "", file = ""] = /^(.*?)(\{.*\})$/.exec(diagnostic?.message ?? "") ?? [];
    expect(said).toContain(`server at ${origin} `);
    const { providers } = JSON.parse(file) as { providers: Record<string, object> };
    const described = fakeRegistry({ lists: {}, custom: providers }).registry;
    expect(await described.models("local")).toMatchObject([{ id: "m", baseUrl: `${origin}/v1` }]);
    expect(await registry.availableProviders()).toEqual([]);
  });

  it("keeps the user's own description of a server", async () => {
    const entry = {
      baseUrl: "http://127.0.0.1:1/v1",
      api: "openai-completions",
      models: [{ id: "mine" }],
    };
    const { registry } = fakeRegistry({ lists: {}, custom: { vllm: entry } });
    expect(await addLocalServers(registry, { addresses: [await answering(vllm)] })).toEqual([]);
    expect((await registry.models("vllm")).map(({ id }) => id)).toEqual(["mine"]);
  });
});
