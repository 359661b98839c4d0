import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KnownKeys, ProcessRegistry } from "@tau-agent/system";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fakeModel } from "./__fixtures__/fake-registry.ts";
import { createModelRegistry } from "./create-model-registry.ts";
import { selectInitialModel } from "./initial-model.ts";
import { modelName, resolveModel } from "./resolver.ts";

let agentDirectory: string;
beforeEach(() => {
  agentDirectory = mkdtempSync(join(tmpdir(), "tau-clouds-"));
});
afterEach(() => rmSync(agentDirectory, { recursive: true, force: true }));

const put = (name: string, value: unknown) =>
  writeFileSync(join(agentDirectory, name), JSON.stringify(value));

const lists: Readonly<Record<string, string>> = {
  "amazon-bedrock": "nova",
  azure: "gpt-6",
  "google-vertex": "gemini",
  xai: "grok",
};

function registryWith(environment: Record<string, string> = {}, offered = lists) {
  return createModelRegistry({
    agentDirectory,
    environment,
    processes: new ProcessRegistry(),
    catalog: {
      providers: () => Object.fromEntries(Object.keys(offered).map((id) => [id, {}])),
      models: async (provider) => [fakeModel(provider, offered[provider] ?? "")],
    },
  });
}

const aws = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" };
const google = { GCLOUD_PROJECT: "p", GOOGLE_CLOUD_LOCATION: "europe-west1" };

describe("a cloud's own credentials", () => {
  it.each([
    ["amazon-bedrock", aws, true],
    ["amazon-bedrock", { AWS_PROFILE: "dev" }, true],
    ["amazon-bedrock", { AWS_ACCESS_KEY_ID: "id" }, false],
    ["amazon-bedrock", { AWS_BEARER_TOKEN_BEDROCK: "t" }, true],
    ["amazon-bedrock", { AWS_WEB_IDENTITY_TOKEN_FILE: "/t" }, true],
    ["google-vertex", google, true],
    ["google-vertex", { GOOGLE_CLOUD_PROJECT: "p" }, false],
    ["google-vertex", { GOOGLE_CLOUD_API_KEY: "k" }, true],
    ["azure", { AZURE_OPENAI_API_KEY: "k" }, true],
  ])("make %s available with %o: %s", async (provider, environment, isAvailable) => {
    const available = await registryWith(environment).availableProviders();
    expect(available.includes(provider)).toBe(isAvailable);
  });

  it("need no key, and are located by the request itself", async () => {
    const registry = registryWith(aws);
    const model = fakeModel("amazon-bedrock", "nova");
    expect(await registry.requestAuth(model)).toMatchObject({
      apiKey: undefined,
      environment: aws,
    });
    // The machine itself may have a role.
    expect(await registryWith().requestAuth(model)).toMatchObject({ apiKey: undefined });
  });

  it("are named if they are missing", async () => {
    const missing = registryWith().requestAuth(fakeModel("google-vertex", "gemini"));
    await expect(missing).rejects.toThrow(
      /GOOGLE_CLOUD_API_KEY, or GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION/,
    );
  });

  it("do not select a model on their own", async () => {
    const chosen = async (environment: Record<string, string>, saved = {}) => {
      const { model } = await selectInitialModel({ registry: registryWith(environment), saved });
      return model && modelName(model);
    };
    expect(await chosen({ ...aws, ...google })).toBeUndefined();
    expect(await chosen({ ...aws, XAI_API_KEY: "k" })).toBe("xai/grok");
    expect(await chosen({ AWS_BEARER_TOKEN_BEDROCK: "t" })).toBe("amazon-bedrock/nova");
    expect(await chosen(aws, { provider: "amazon-bedrock" })).toBe("amazon-bedrock/nova");
    put("models.json", { providers: { "amazon-bedrock": { baseUrl: "https://vpce.invalid" } } });
    expect(await chosen(aws)).toBe("amazon-bedrock/nova");
  });
});

describe("a part of a name", () => {
  const shared = { "google-vertex": "grok", xai: "grok" };
  const find = async (environment: Record<string, string>) => {
    const registry = registryWith(environment, shared);
    return modelName((await resolveModel(registry, { model: "gro" })).model);
  };

  it("prefers a provider with a key to one with a cloud's own credentials", async () => {
    expect(await find({ ...google, XAI_API_KEY: "k" })).toBe("xai/grok");
    expect(await find(google)).toBe("google-vertex/grok");
  });

  it("means the maker if no provider has a key", async () => {
    expect(await find({})).toBe("xai/grok");
  });
});

describe("variables beside a key in auth.json", () => {
  it("override the host's, resolve like keys and apply only to their provider", async () => {
    const env = { AZURE_OPENAI_RESOURCE_NAME: "$TEAM", AZURE_OPENAI_API_VERSION: "v1" };
    put("auth.json", { azure: { type: "api_key", key: "k", env } });
    const host = { TEAM: "tau", AZURE_OPENAI_API_VERSION: "preview" };
    const registry = registryWith(host);
    expect(await registry.requestAuth(fakeModel("azure", "gpt-6"))).toMatchObject({
      apiKey: "k",
      environment: { ...host, ...env, AZURE_OPENAI_RESOURCE_NAME: "tau" },
    });
    expect(await registry.keys.environmentOf("xai")).toEqual(host);
  });

  it("may be the whole entry", async () => {
    const env = { AWS_PROFILE: "dev", AWS_SECRET_ACCESS_KEY: "a-stored-secret" };
    put("auth.json", { "amazon-bedrock": { type: "api_key", env } });
    const registry = registryWith();
    expect(await registry.availableProviders()).toContain("amazon-bedrock");
    const auth = await registry.requestAuth(fakeModel("amazon-bedrock", "nova"));
    expect(auth).toMatchObject({ apiKey: undefined, environment: env });
    expect(new KnownKeys(agentDirectory).read().secrets).toContain("a-stored-secret");
  });

  it("may contain the key", async () => {
    const env = { AWS_BEARER_TOKEN_BEDROCK: "stored" };
    put("auth.json", { "amazon-bedrock": { type: "api_key", env } });
    const auth = await registryWith().requestAuth(fakeModel("amazon-bedrock", "nova"));
    expect(auth.apiKey).toBe("stored");
  });
});

describe("the former id of Azure", () => {
  it("means the same in files, flags and settings", async () => {
    const provider = { baseUrl: "https://r.invalid", apiKey: "from-models" };
    put("models.json", { providers: { "azure-openai-responses": provider } });
    const registry = registryWith();
    const found = await registry.find("azure-openai-responses", "gpt-6");
    expect(found).toMatchObject({ provider: "azure", baseUrl: "https://r.invalid" });
    for (const wanted of [
      { model: "azure-openai-responses/gpt-6" },
      { model: "gpt-6", provider: "azure-openai-responses" },
    ]) {
      expect((await resolveModel(registry, wanted)).model).toEqual(found);
    }
    const saved = { provider: "azure-openai-responses", model: "gpt-6" };
    expect((await selectInitialModel({ registry, saved })).model).toEqual(found);
    put("auth.json", { "azure-openai-responses": { type: "api_key", key: "from-auth" } });
    const again = registryWith();
    expect(await again.keys.require("azure")).toMatchObject({ key: "from-auth" });
  });
});
