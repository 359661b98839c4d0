import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createModelRegistry } from "@tau-agent/models";
import { ProcessRegistry } from "@tau-agent/system";
import { expect, it, onTestFinished } from "vitest";
import { createHostModules } from "../../pi-modules/host-modules.ts";
import { fakePort, systemIn } from "../port/__fixtures__/session-port.ts";

/** Loads an extension that registers a native provider with `body`; returns the provider and its registry. */
async function providerOf(body: string, environment: Record<string, string> = {}, stored = {}) {
  const agentDirectory = mkdtempSync(join(tmpdir(), "tau-native-"));
  onTestFinished(() => rmSync(agentDirectory, { recursive: true, force: true }));
  writeFileSync(join(agentDirectory, "auth.json"), JSON.stringify(stored));
  const path = join(agentDirectory, "provider.ts");
  const source = `import { createProvider, envApiKeyAuth, openAICompletionsApi } from "@earendil-works/pi-ai";
    export default (pi) => {
      pi.registerProvider(createProvider({ id: "house", name: "The House", ${body} }));
    };`;
  writeFileSync(path, source);
  const registry = createModelRegistry({
    processes: new ProcessRegistry(),
    agentDirectory,
    environment,
    catalog: { providers: () => ({}), models: async () => [] },
  });
  const hostModules = createHostModules({
    cwd: agentDirectory,
    agentDirectory,
    homeDirectory: agentDirectory,
    temporaryDirectory: agentDirectory,
    environment,
    version: "1.0.0",
  });
  const port = fakePort(agentDirectory);
  const execEnvironment = { ...port.execEnvironment, environment };
  const { system } = systemIn(agentDirectory, {
    paths: [path],
    registry,
    hostModules,
    execEnvironment,
  });
  await system.load("own");
  await system.bind(port);
  expect(system.diagnostics).toEqual([]);
  const view = system.runner.context.modelRegistry;
  await view.refresh();
  return { registry, view };
}

const model = `{ id: "m", api: "openai-completions", contextWindow: 1000, maxTokens: 10 }`;
const plain = `baseUrl: "https://house.invalid", models: [${model}], api: openAICompletionsApi(),
  auth: { apiKey: envApiKeyAuth("key", ["HOUSE_KEY"]) }`;

it("offers a native provider's models once its own search finds a key", async () => {
  const without = await providerOf(plain);
  expect(await without.registry.available()).toEqual([]);
  expect(without.view.getProviderAuthStatus("house")).toEqual({ configured: false });
  const { registry, view } = await providerOf(plain, { HOUSE_KEY: "k" });
  expect(await registry.available()).toMatchObject([
    { provider: "house", id: "m", baseUrl: "https://house.invalid", input: ["text"] },
  ]);
  expect(await view.getProviderAuth("house")).toMatchObject({ auth: { apiKey: "k" } });
  expect(view.getProvider("house")).toMatchObject({ id: "house", name: "The House" });
  expect(view.getProviderDisplayName("house")).toBe("The House");
});

it("passes a key from auth.json to the provider's search, and sends the headers that it adds", async () => {
  const search = `{ resolve: async ({ credential }) =>
    ({ auth: { apiKey: credential.key + "!", headers: { "x-house": "1" } } }) }`;
  const body = `models: [${model}], api: openAICompletionsApi(), auth: { apiKey: ${search} }`;
  const stored = { house: { type: "api_key", key: "kept" } };
  const { registry, view } = await providerOf(body, {}, stored);
  const [found] = await registry.models("house");
  if (found === undefined) throw new TypeError("no model");
  expect(await registry.requestAuth(found)).toMatchObject({
    apiKey: "kept!",
    environment: {},
    headers: { "x-house": "1" },
  });
  expect(view.authStorage).toMatchObject({ get: expect.any(Function) });
});

it("uses the key that the provider derives from a login", async () => {
  const oauth = `{ refresh: async (login) => login, toAuth: async ({ access }) => ({ apiKey: "t:" + access }) }`;
  const body = `models: [${model}], api: openAICompletionsApi(), auth: { oauth: ${oauth} }`;
  const login = { type: "oauth", access: "a", refresh: "r", expires: Date.now() + 3_600_000 };
  const { view } = await providerOf(body, {}, { house: login });
  expect(await view.getApiKeyForProvider("house")).toBe("t:a");
  const [found] = view.getAvailable();
  expect(found && view.isUsingOAuth(found)).toBe(true);
});

it("refreshes the provider's models, and keeps the old ones on failure", async () => {
  const fetched = await providerOf(`${plain}, fetchModels: async () => [{ id: "n" }]`);
  expect((await fetched.registry.models("house")).map(({ id }) => id)).toEqual(["n"]);
  const failing = await providerOf(
    `${plain}, fetchModels: async () => { throw new Error("down"); }`,
  );
  expect((await failing.registry.models("house")).map(({ id }) => id)).toEqual(["m"]);
});

it("streams through the provider's own streams, by the model's wire format", async () => {
  const streams = `{ streamSimple: async function* (model, context, { apiKey }) {
    const message = { role: "assistant", content: [{ type: "text", text: model.id + apiKey }],
      stopReason: "stop", usage: {} };
    yield { type: "done", reason: "stop", message };
  } }`;
  const body = `models: [${model}], api: { "openai-completions": ${streams} },
    auth: { apiKey: envApiKeyAuth("key", ["HOUSE_KEY"]) }`;
  const { view } = await providerOf(body, { HOUSE_KEY: "k" });
  const [found] = view.getAvailable();
  if (found === undefined) throw new TypeError("no model");
  const reply = await view.streamSimple(found, { messages: [] }).result();
  expect(reply.content).toEqual([{ type: "text", text: "mk" }]);
});

it("ends a reply that cannot be requested with an explanatory error", async () => {
  const { view } = await providerOf(plain);
  const [found] = view.getAll();
  if (found === undefined) throw new TypeError("no model");
  const events = [];
  for await (const event of view.stream(found, { messages: [] })) events.push(event.type);
  expect(events).toEqual(["error"]);
  const { errorMessage } = await view.stream(found, { messages: [] }).result();
  expect(errorMessage).toContain("house");
});
