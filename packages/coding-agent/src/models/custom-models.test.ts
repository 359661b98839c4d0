import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ProcessRegistry } from "../processes/process-registry.ts";
import { fakeModel } from "./__fixtures__/fake-registry.ts";
import { createModelRegistry } from "./create-model-registry.ts";

let agentDirectory: string;
beforeEach(() => {
  agentDirectory = mkdtempSync(join(tmpdir(), "tau-models-"));
});
afterEach(() => rmSync(agentDirectory, { recursive: true, force: true }));

const builtIn = [
  fakeModel("vendor", "one", { compat: { a: 1 } }),
  fakeModel("vendor", "two", { thinkingLevelMap: { high: "h" } }),
];

function registryWith(file: unknown, environment: Record<string, string> = {}) {
  const text = typeof file === "string" ? file : JSON.stringify(file);
  if (file !== undefined) writeFileSync(join(agentDirectory, "models.json"), text);
  return createModelRegistry({
    processes: new ProcessRegistry(),
    agentDirectory,
    environment,
    catalog: {
      providers: () => ({ vendor: { apiKeyEnv: "VENDOR_KEY" } }),
      models: async () => builtIn,
    },
  });
}

const local = {
  baseUrl: "http://localhost:11434/v1",
  api: "openai-completions",
  models: [{ id: "qwen3:8b" }],
};

describe("models.json", () => {
  it("needs only an id for a model", async () => {
    const registry = registryWith({ providers: { ollama: local } });
    expect(await registry.find("ollama", "qwen3:8b")).toEqual({
      id: "qwen3:8b",
      name: "qwen3:8b",
      api: "openai-completions",
      provider: "ollama",
      baseUrl: "http://localhost:11434/v1",
      reasoning: false,
      input: ["text"],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 128_000,
      maxTokens: 16_384,
    });
  });

  it("allows comments and trailing commas", async () => {
    const registry = registryWith(`{ // mine\n "providers": { "o": ${JSON.stringify(local)}, }, }`);
    expect(await registry.diagnostics()).toEqual([]);
    expect(await registry.models("o")).toHaveLength(1);
  });

  it("replaces a built-in model of the same id and keeps the others", async () => {
    const registry = registryWith({
      providers: { vendor: { ...local, models: [{ id: "one", name: "Mine" }] } },
    });
    const models = await registry.models("vendor");
    expect(models.map(({ id, name }) => [id, name])).toEqual([
      ["two", "two"],
      ["one", "Mine"],
    ]);
  });

  it("changes where built-in models are reached and merges overrides per field", async () => {
    const registry = registryWith({
      providers: {
        vendor: {
          baseUrl: "https://proxy.invalid",
          compat: { b: 2 },
          modelOverrides: {
            one: { cost: { output: 9 }, compat: { c: 3 }, maxTokens: 7 },
            unknown: { maxTokens: 1 },
          },
        },
      },
    });
    const [one, two] = await registry.models("vendor");
    expect(one).toMatchObject({
      baseUrl: "https://proxy.invalid",
      compat: { a: 1, b: 2, c: 3 },
      cost: { input: 1, output: 9 },
      maxTokens: 7,
    });
    expect(two?.maxTokens).toBe(100);
  });

  it.each([
    [{ providers: { x: { models: [{ name: "no id" }] } } }, "providers.x.models[0].id"],
    [{ providers: { x: { ...local, models: [{ id: "a", input: ["smell"] }] } } }, "input[0]"],
    [{ providers: { x: { models: [{ id: "a" }] } } }, "providers.x.models[0].baseUrl"],
    [{ providers: { x: { baseUrl: "u", models: [{ id: "a" }] } } }, "providers.x.models[0].api"],
    ["{ broken", "line 1"],
  ])("keeps the built-in models and names the bad field: %j", async (file, field) => {
    const registry = registryWith(file);
    expect((await registry.diagnostics())[0]?.message).toContain(field);
    expect(await registry.models("vendor")).toEqual(builtIn);
  });

  it("leaves out only the invalid models, overrides and providers, and names each", async () => {
    const registry = registryWith({
      providers: {
        vendor: { modelOverrides: { one: { maxTokens: "many" }, two: { maxTokens: 7 } } },
        local: {
          ...local,
          models: [{ id: "bad", cost: { input: -1 } }, { id: "good" }, { name: 1 }],
        },
        half: {
          ...local,
          baseUrl: undefined,
          models: [{ id: "a" }, { id: "b", baseUrl: "http://b" }],
        },
        broken: { ...local, headers: { "x-a": 1 } },
        number: 7,
      },
    });
    const ids = async (provider: string) => (await registry.models(provider)).map(({ id }) => id);
    expect(await ids("local")).toEqual(["good"]);
    expect(await ids("half")).toEqual(["b"]);
    expect((await registry.models("vendor")).map(({ maxTokens }) => maxTokens)).toEqual([100, 7]);
    expect(await registry.providers()).toEqual(["vendor", "local", "half"]);
    const path = join(agentDirectory, "models.json");
    expect(await registry.diagnostics()).toEqual(
      [
        "providers.vendor.modelOverrides.one is left out: providers.vendor.modelOverrides.one.maxTokens: must be a number above 0",
        'model "local/bad" is left out: providers.local.models[0].cost.input: must be a number of at least 0',
        "providers.local.models[2] is left out: providers.local.models[2].id: is missing",
        'model "half/a" is left out: providers.half.models[0].baseUrl: a model needs a baseUrl, its own or its provider\'s',
        'provider "broken" is left out: providers.broken.headers.x-a: must be a string or null',
        'provider "number" is left out: providers.number: must be an object',
      ].map((problem) => {
        const reason = problem.slice(problem.indexOf(" is left out: ") + " is left out: ".length);
        const member = reason.split(":", 1)[0];
        return { severity: "warning", message: `${path}: ${problem}`, path, member, reason };
      }),
    );
  });

  it("keeps header values out of the model and resolves them for the request", async () => {
    const registry = registryWith(
      {
        providers: {
          mine: {
            ...local,
            apiKey: "$MY_KEY",
            authHeader: true,
            headers: { "x-team": "a", "x-secret": "$MY_SECRET" },
            models: [{ id: "m", headers: { "x-team": "b" } }],
          },
        },
      },
      { MY_KEY: "k", MY_SECRET: "hidden" },
    );
    const model = await registry.find("mine", "m");
    expect(JSON.stringify(model)).not.toContain("x-secret");
    expect(model && (await registry.requestAuth(model))).toEqual({
      apiKey: "k",
      keyStep: "The key from models.json was refused. Check it.",
      environment: { MY_KEY: "k", MY_SECRET: "hidden" },
      headers: { Authorization: "Bearer k", "x-team": "b", "x-secret": "hidden" },
    });
  });

  it("passes on that a header is not to be sent, though an SDK would", async () => {
    const headers = { "user-agent": null, "x-team": "a" };
    const models = [{ id: "m", headers: { "x-team": null } }, { id: "n" }];
    const registry = registryWith({ providers: { mine: { ...local, headers, models } } });
    expect(await registry.diagnostics()).toEqual([]);
    const [m, n] = await registry.models("mine");
    expect(m && (await registry.requestAuth(m)).headers).toEqual({
      "user-agent": null,
      "x-team": null,
    });
    expect(n && (await registry.requestAuth(n)).headers["x-team"]).toBe("a");
  });

  it("makes a provider available by a key of models.json, the environment, or by being local", async () => {
    const remote = { ...local, baseUrl: "https://far.invalid" };
    const registry = registryWith(
      {
        providers: {
          local,
          keyed: { ...remote, apiKey: "word" },
          unset: { ...remote, apiKey: "$NOPE" },
          bare: remote,
        },
      },
      { VENDOR_KEY: "k" },
    );
    expect(await registry.availableProviders()).toEqual(["local", "keyed", "vendor"]);
  });

  it("is read again after a reload", async () => {
    const registry = registryWith(undefined);
    expect(await registry.models("ollama")).toEqual([]);
    writeFileSync(
      join(agentDirectory, "models.json"),
      JSON.stringify({ providers: { ollama: local } }),
    );
    registry.reload();
    expect(await registry.models("ollama")).toHaveLength(1);
  });
});
