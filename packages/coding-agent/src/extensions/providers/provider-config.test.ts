import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "@tau-agent/ai/testing";
import { createModelRegistry } from "@tau-agent/models";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import { ProcessRegistry } from "@tau-agent/system";
import { expect, it, onTestFinished } from "vitest";
import type { ProviderConfig } from "../api/models.ts";
import { customProviderOf, withProviderStreams } from "./provider-config.ts";
import { emptyReply } from "./reply-stream.ts";

/** A registry with an extension's provider, and a login for it that is about to expire. */
function registryWith(config: ProviderConfig, access: string) {
  const agentDirectory = mkdtempSync(join(tmpdir(), "tau-login-"));
  onTestFinished(() => rmSync(agentDirectory, { recursive: true, force: true }));
  const login = { type: "oauth", access, refresh: "r1", expires: Date.now() + 1_000, region: "eu" };
  writeFileSync(join(agentDirectory, "auth.json"), JSON.stringify({ house: login }));
  const registry = createModelRegistry({
    processes: new ProcessRegistry(),
    agentDirectory,
    environment: {},
    catalog: { providers: () => ({}), models: async () => [] },
  });
  registry.addProvider(customProviderOf("house", config));
  return registry;
}

const described: ProviderConfig = {
  baseUrl: "https://house.invalid/v1",
  api: "openai-completions",
  models: [{ id: "m", contextWindow: 1000, maxTokens: 100 }],
};

it("renews a login with the extension's code, and sends the key derived from the tokens", async () => {
  const asked: unknown[] = [];
  const registry = registryWith(
    {
      ...described,
      oauth: {
        async refreshToken(credentials) {
          asked.push(credentials.refresh);
          return { access: "new", refresh: "r2", expires: Date.now() + 3_600_000 };
        },
        getApiKey: ({ access, region }) => `${region}:${access}`,
      },
    },
    "old",
  );
  expect(await registry.keys.require("house")).toEqual({ key: "eu:new", source: "login" });
  expect(await registry.keys.require("house")).toEqual({ key: "eu:new", source: "login" });
  expect(asked).toEqual(["r1"]);
  expect(await registry.availableProviders()).toEqual(["house"]);
});

it("shows the models of logged-in users", async () => {
  const registry = registryWith(
    {
      ...described,
      oauth: {
        refreshToken: (credentials) => Promise.resolve(credentials),
        modifyModels: (models, { region }) =>
          models.map((model) => ({ ...model, baseUrl: `https://${region}.house.invalid` })),
      },
    },
    "old",
  );
  const models = await registry.models("house");
  expect(models.map(({ baseUrl }) => baseUrl)).toEqual(["https://eu.house.invalid"]);
});

it.each([
  ['429 {"error":{"message":"slow down"}}', { code: "rate_limited", isRetryable: true }],
  ['401 {"error":{"message":"no"}}', { code: "auth", status: 401, isRetryable: false }],
  ["Overloaded", { code: "overloaded", isRetryable: true }],
  ["prompt is too long: 5 tokens > 4 maximum", { code: "context_overflow" }],
])("classifies the failure of an extension's stream: %s", async (words, expected) => {
  const model = scriptedModel();
  const reply = { ...message(model), stopReason: "error" as const, errorMessage: words };
  const failing = [
    async function* () {
      yield { type: "error", reason: "error", error: reply };
    },
    async function* () {
      yield { type: "start", partial: reply };
      throw new TypeError(words);
    },
  ];
  for (const open of failing) {
    const stream = withProviderStreams(neverAsked, () => open as never);
    const steps = stream(model, { messages: [] }, {});
    let step = await steps.next();
    while (!step.done) step = await steps.next();
    expect(step.value).toMatchObject({ message: { errorMessage: words }, error: expected });
  }
});

it("does not treat an aborted reply of an extension as a failure", async () => {
  const model = scriptedModel();
  const error = { ...message(model), stopReason: "aborted" as const, errorMessage: "429" };
  const open = async function* () {
    yield { type: "error", reason: "aborted", error };
  };
  const steps = withProviderStreams(neverAsked, () => open as never)(model, { messages: [] }, {});
  await steps.next();
  expect(await steps.next()).toEqual({ done: true, value: { message: error } });
});

const neverAsked = () => {
  throw new TypeError("not this one");
};

const message = (model: Model) => ({ ...emptyReply(model), timestamp: 1 });
