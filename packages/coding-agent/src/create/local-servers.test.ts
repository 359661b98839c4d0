import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { placesIn, temporaryFolder } from "./__fixtures__/test-session.ts";
import { createAgentSession } from "./create-session.ts";
import type { CreateAgentSessionOptions } from "./options/session-options.ts";

/** A session on a machine with a vLLM server, and the number of requests to the server. */
async function sessionWith(options: Partial<CreateAgentSessionOptions>) {
  const { port, requests } = await serveModels("q");
  const { session } = await sessionAt([`127.0.0.1:${port}`], options);
  const { models, diagnostics } = session;
  const named = diagnostics.filter(({ code }) => code === "local_server");
  const asked = requests.filter((url) => url === "/v1/models").length;
  return { model: models.model, named: named.map(({ message }) => message), asked, port };
}

/** A vLLM server with one model. */
async function serveModels(id: string, port = 0) {
  const requests: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url);
    if (request.url !== "/v1/models") {
      response.writeHead(404).end();
      return;
    }
    response.end(`{"data":[{"id":"${id}","owned_by":"vllm","max_model_len":40960}]}`);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(close);
  return { port: (server.address() as AddressInfo).port, requests, close };
}

/** A session whose user has configured these servers. */
async function sessionAt(
  localServers: readonly string[],
  options: Partial<CreateAgentSessionOptions>,
  settings: object = {},
) {
  const places = placesIn(temporaryFolder());
  const directory = String(places.agentDirectory);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "settings.json"), JSON.stringify({ localServers, ...settings }));
  const session = await createAgentSession({ findLocalServers: true, ...places, ...options });
  onTestFinished(() => session.dispose());
  return { session, messages: session.diagnostics.map(({ message }) => message) };
}

const key = { environment: { ANTHROPIC_API_KEY: "k" } };

it("uses a local server and says so when no model has a key", async () => {
  const { model, named, port } = await sessionWith({ findLocalServers: true });
  expect(model).toMatchObject({ provider: "vllm", id: "q", contextWindow: 40_960 });
  expect(named).toEqual([
    `No model with a key is named: using q of vLLM at http://127.0.0.1:${port}, window 40960 tokens`,
  ]);
});

it("asks no local server when there is a key, or when the program did not allow it", async () => {
  const keyed = await sessionWith({ ...key, findLocalServers: true });
  expect(keyed).toMatchObject({ model: { provider: "anthropic" }, named: [], asked: 0 });
  expect(await sessionWith({ findLocalServers: false })).toMatchObject({
    model: undefined,
    named: [],
    asked: 0,
  });
});

it("asks the local servers for a model that is named", async () => {
  const found = await sessionWith({ ...key, findLocalServers: true, model: "vllm/q" });
  expect(found).toMatchObject({ model: { provider: "vllm", id: "q" }, named: [], asked: 1 });
});

it("asks them even if there are models with a key, when all are to be listed", async () => {
  const found = await sessionWith({ ...key, findLocalServers: "always" });
  expect(found).toMatchObject({ model: { provider: "anthropic" }, named: [], asked: 1 });
});

it.each(["llama3:8b", "thinker:high", "LLAMA3:8B", "thinker:high:low"])(
  "finds %s on a server by its exact id, although it contains a colon",
  async (model) => {
    const id = model.startsWith("thinker") ? "thinker:high" : "llama3:8b";
    const { port } = await serveModels(id);
    for (const environment of [{}, key.environment]) {
      const { session } = await sessionAt([`127.0.0.1:${port}`], { model, environment });
      expect(session.models.model).toMatchObject({ provider: "vllm", id });
    }
  },
);

it("asks the servers for a known model that has no key", async () => {
  const { port } = await serveModels("claude-sonnet-4-5");
  const { session } = await sessionAt([`127.0.0.1:${port}`], { model: "claude-sonnet-4-5" });
  expect(session.models.model).toMatchObject({ provider: "vllm" });
});

const closed = "127.0.0.1:9";

it.each([
  [{ model: "vllm/q" }, "vllm/q; no vLLM with a model answers at http://127.0.0.1:9"],
  [{ provider: "ollama", model: "q:4b" }, "ollama/q:4b; no Ollama with a model answers at"],
  [{ provider: "ollama" }, "ollama; no Ollama with a model answers at http://127.0.0.1:9"],
  [
    { model: "q:4b" },
    "q:4b; no provider has it, and no model server answers at http://127.0.0.1:9",
  ],
])("names the unreachable server: %j", async (options, text) => {
  await expect(sessionAt([closed], options)).rejects.toMatchObject({
    code: "model_not_found",
    message: expect.stringContaining(text),
  });
});

it("reports which model replaces one whose server is unreachable", async () => {
  const settings = { defaultProvider: "ollama", defaultModel: "qwen3:4b" };
  const { messages } = await sessionAt([closed], key, settings);
  expect(messages).toEqual([
    expect.stringMatching(
      /^The default model ollama\/qwen3:4b is not available: no Ollama .* http:\/\/127.0.0.1:9; using anthropic\/claude-/,
    ),
  ]);
});

it("looks for a server again at the next prompt of a session without a model", async () => {
  const { port, close } = await serveModels("early");
  close();
  const { session } = await sessionAt([`127.0.0.1:${port}`], {});
  await expect(session.submit("hi")).rejects.toMatchObject({ code: "no_model" });
  await serveModels("later", port);
  await session.submit("hi");
  expect(session.models.model).toMatchObject({ provider: "vllm", id: "later" });
  expect(session.diagnostics.map(({ code }) => code)).toContain("local_server");
});
