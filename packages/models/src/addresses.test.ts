import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listProviders } from "@tau-agent/ai";
import { keyVariableNames, ProcessRegistry } from "@tau-agent/system";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { builtInCatalog } from "./catalog.ts";
import { createModelRegistry } from "./create-model-registry.ts";
import type { ModelRegistry } from "./registry.ts";
import { resolveModel } from "./resolver.ts";

let agentDirectory: string;
beforeEach(() => {
  agentDirectory = mkdtempSync(join(tmpdir(), "tau-addresses-"));
});
afterEach(() => rmSync(agentDirectory, { recursive: true, force: true }));

function registryWith(environment: Record<string, string>, file?: object): ModelRegistry {
  if (file) writeFileSync(join(agentDirectory, "models.json"), JSON.stringify(file));
  const processes = new ProcessRegistry();
  return createModelRegistry({ processes, agentDirectory, environment, catalog: builtInCatalog() });
}

async function addressOf(registry: ModelRegistry, provider: string): Promise<string | undefined> {
  return (await registry.models(provider))[0]?.baseUrl;
}

describe("the variable of a provider's address", () => {
  it.each([
    [
      "anthropic",
      "ANTHROPIC_BASE_URL",
      "https://proxy.example.com/a/",
      "https://proxy.example.com/a",
    ],
    ["openai", "OPENAI_BASE_URL", "https://proxy.example.com/v1", "https://proxy.example.com/v1"],
    ["google", "GOOGLE_GEMINI_BASE_URL", "https://p.example.com", "https://p.example.com/v1beta"],
    ["google", "GOOGLE_GEMINI_BASE_URL", "https://p.example.com/v1/", "https://p.example.com/v1"],
  ])("%s is reached at %s", async (provider, name, value, expected) => {
    expect(await addressOf(registryWith({ [name]: value }), provider)).toBe(expected);
    expect(await addressOf(registryWith({ [name]: "" }), provider)).toMatch(
      /anthropic|openai|google/,
    );
  });

  it("yields to models.json", async () => {
    const registry = registryWith(
      { OPENAI_BASE_URL: "https://variable.example.com/v1" },
      { providers: { openai: { baseUrl: "https://file.example.com/v1" } } },
    );
    expect(await addressOf(registry, "openai")).toBe("https://file.example.com/v1");
  });

  it("does not affect other providers", async () => {
    const registry = registryWith({ OPENAI_BASE_URL: "https://variable.example.com/v1" });
    expect(await addressOf(registry, "groq")).toBe("https://api.groq.com/openai/v1");
  });

  it("is named before a request if its value is not a URL", async () => {
    const registry = registryWith({ OPENAI_BASE_URL: "proxy.example.com", OPENAI_API_KEY: "k" });
    const [model] = await registry.models("openai");
    if (model === undefined) throw new Error("no model");
    await expect(registry.requestAuth(model)).rejects.toMatchObject({
      code: "invalid_option",
      message: expect.stringMatching(/OPENAI_BASE_URL.*http or https URL.*not proxy\.example\.com/),
    });
  });
});

describe("a provider whose address has parts that the user sets", () => {
  const parts = { CLOUDFLARE_ACCOUNT_ID: "acc", CLOUDFLARE_GATEWAY_ID: "gate" };

  it("is available if its key and all parts are set", async () => {
    const key = { CLOUDFLARE_API_KEY: "secret" };
    const { CLOUDFLARE_ACCOUNT_ID } = parts;
    expect(await registryWith(key).availableProviders()).toEqual([]);
    const one = registryWith({ ...key, CLOUDFLARE_ACCOUNT_ID });
    expect(await one.availableProviders()).toEqual(["cloudflare-workers-ai"]);
    const both = registryWith({ ...key, ...parts });
    expect(await both.availableProviders()).toContain("cloudflare-ai-gateway");
  });

  it("gets requests at its complete address, with the key in its own header", async () => {
    const registry = registryWith({ ...parts, CLOUDFLARE_API_KEY: "secret" });
    const model = await registry.find("cloudflare-ai-gateway", "gpt-5.4");
    if (model === undefined) throw new Error("no model");
    expect(model.baseUrl).toBe("https://gateway.ai.cloudflare.com/v1/acc/gate/openai");
    const { apiKey, headers } = await registry.requestAuth(model);
    expect(apiKey).toBeUndefined();
    expect(headers).toEqual({ "cf-aig-authorization": "Bearer secret" });
  });

  it("takes the parts from variables beside the key in auth.json", async () => {
    const entry = { type: "api_key", key: "secret", env: { CLOUDFLARE_ACCOUNT_ID: "stored" } };
    const path = join(agentDirectory, "auth.json");
    writeFileSync(path, JSON.stringify({ "cloudflare-workers-ai": entry }));
    const registry = registryWith({});
    expect(await registry.availableProviders()).toEqual(["cloudflare-workers-ai"]);
    expect(await addressOf(registry, "cloudflare-workers-ai")).toContain("/accounts/stored/ai/v1");
  });

  it("names a missing part", async () => {
    const registry = registryWith({ CLOUDFLARE_API_KEY: "secret" });
    const [model] = await registry.models("cloudflare-workers-ai");
    if (model === undefined) throw new Error("no model");
    expect(await registry.isAvailable(model)).toBe(false);
    await expect(registry.requestAuth(model)).rejects.toThrow(/CLOUDFLARE_ACCOUNT_ID.*not set/);
  });
});

describe("the catalogue", () => {
  it("has no key variable that commands would inherit", () => {
    const names = listProviders().flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
    for (const name of names) expect(keyVariableNames()).toContain(name);
  });

  it("says why a model that its vendor offers cannot be used", async () => {
    const registry = registryWith({});
    await expect(resolveModel(registry, { model: "openai/gpt-4" })).resolves.toBeDefined();
    const named = { provider: "google", model: "deep-research-preview-04-2026" };
    await expect(resolveModel(registry, named)).rejects.toThrow(/cannot be used: it runs only/);
    await expect(resolveModel(registry, { provider: "radius", model: "balanced" })).rejects.toThrow(
      /cannot be used: its wire format, pi-messages/,
    );
  });
});
