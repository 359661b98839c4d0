import type { Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import type { Environment } from "../provider.ts";
import { azureEndpoint, deploymentOf } from "./azure-endpoint.ts";

const model = (baseUrl = ""): Model => ({
  id: "gpt-6-sol",
  name: "GPT",
  api: "azure-openai-responses",
  provider: "azure",
  baseUrl,
  reasoning: true,
  input: ["text"],
  cost: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
  contextWindow: 100_000,
  maxTokens: 1000,
});

function urlOf(environment: Environment, baseUrl?: string, operation: Operation = "/responses") {
  const place = azureEndpoint(model(baseUrl), operation, { environment, apiKey: "k" });
  return `${place.baseUrl}${place.path}`;
}

type Operation = "/responses" | "/chat/completions";

describe("the endpoint of an Azure resource", () => {
  it.each([
    "https://tau.openai.azure.com",
    "https://tau.openai.azure.com/",
    "https://tau.openai.azure.com/openai",
    "https://tau.openai.azure.com/openai/v1",
    "https://tau.openai.azure.com/openai/v1/",
  ])("is the v1 API for %s", (AZURE_OPENAI_BASE_URL) => {
    const wanted = "https://tau.openai.azure.com/openai/v1/responses";
    expect(urlOf({ AZURE_OPENAI_BASE_URL })).toBe(wanted);
    expect(urlOf({}, AZURE_OPENAI_BASE_URL)).toBe(wanted);
  });

  it("is derived from the name of the resource", () => {
    const environment = { AZURE_OPENAI_RESOURCE_NAME: "tau" };
    expect(urlOf(environment)).toBe("https://tau.openai.azure.com/openai/v1/responses");
  });

  it("prefers models.json to the environment", () => {
    const environment = {
      AZURE_OPENAI_BASE_URL: "https://two.openai.azure.com",
      AZURE_OPENAI_RESOURCE_NAME: "three",
    };
    expect(urlOf(environment, "https://one.openai.azure.com")).toContain("https://one.");
    expect(urlOf(environment)).toContain("https://two.");
  });

  it("keeps the path of a gateway", () => {
    expect(urlOf({}, "https://gateway.invalid/team/azure")).toBe(
      "https://gateway.invalid/team/azure/responses",
    );
  });

  it("uses the older paths for a dated version", () => {
    const environment = {
      AZURE_OPENAI_BASE_URL: "https://tau.openai.azure.com/openai/v1",
      AZURE_OPENAI_API_VERSION: "2025-04-01-preview",
      AZURE_OPENAI_DEPLOYMENT_NAME_MAP: "gpt-6-sol=mine",
    };
    expect(urlOf(environment)).toBe(
      "https://tau.openai.azure.com/openai/responses?api-version=2025-04-01-preview",
    );
    expect(urlOf(environment, undefined, "/chat/completions")).toBe(
      "https://tau.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2025-04-01-preview",
    );
  });

  it("adds any other version to the v1 path", () => {
    const environment = { AZURE_OPENAI_RESOURCE_NAME: "t", AZURE_OPENAI_API_VERSION: "preview" };
    expect(urlOf(environment)).toBe(
      "https://t.openai.azure.com/openai/v1/responses?api-version=preview",
    );
  });

  it("explains what to set if the endpoint is unknown", () => {
    expect(() => urlOf({})).toThrow(/AZURE_OPENAI_BASE_URL or AZURE_OPENAI_RESOURCE_NAME/);
  });
});

describe("the deployment of a model", () => {
  it.each([
    [undefined, "gpt-6-sol"],
    ["", "gpt-6-sol"],
    ["gpt-6-sol=mine", "mine"],
    [" other = x , gpt-6-sol = mine ", "mine"],
    ["gpt-6-sol", "gpt-6-sol"],
    ["gpt-6-sol=", "gpt-6-sol"],
    ["=mine", "gpt-6-sol"],
  ])("of %j is %s", (map, wanted) => {
    expect(deploymentOf(model(), { AZURE_OPENAI_DEPLOYMENT_NAME_MAP: map })).toBe(wanted);
  });
});
