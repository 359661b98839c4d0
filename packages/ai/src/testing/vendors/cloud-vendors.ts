import type { LoopbackApi } from "../loopback-api.ts";
import { inItsGeography, needsDate, saysWhoAsks } from "./cloud-rules.ts";
import { asksBedrockToThink, asksGoogleToThink, asksToThink, knowsOnly } from "./thinking-words.ts";
import type { KeyPlace, Vendor } from "./vendor.ts";
import { needsHeader, noDeveloper, noEmptyTools, refuses } from "./vendor-rules.ts";

const bearer: readonly KeyPlace[] = [{ header: "authorization", scheme: "Bearer" }];
const googleKey: readonly KeyPlace[] = [{ header: "x-goog-api-key" }];

const bedrock = {
  provider: "amazon-bedrock",
  api: "bedrock-converse-stream",
  url: "https://bedrock-runtime.{region}.amazonaws.com/model/{model}/converse-stream",
  rules: [inItsGeography],
  thinks: asksBedrockToThink,
} as const;

const azure = {
  provider: "azure",
  keys: [{ header: "api-key" }],
  rules: [noEmptyTools],
  thinks: asksToThink,
} as const;
const azureResource = "https://resource.openai.azure.com/openai";

const vertex = { provider: "google-vertex", keys: bearer, rules: [] } as const;
const vertexProject =
  "https://europe-west1-aiplatform.googleapis.com/v1/projects/project/locations/europe-west1";
const gemini = { api: "google-vertex", thinks: asksGoogleToThink } as const;
const geminiPath = "publishers/google/models/{model}:streamGenerateContent";

const copilotRules = [
  saysWhoAsks,
  needsHeader("editor-version", /./),
  needsHeader("copilot-integration-id", /./),
  needsHeader("openai-intent", /./),
];

/** GitHub's endpoint for business plans, which is named in the token of such a plan. */
function copilot(api: LoopbackApi, path: string, rules: Vendor["rules"] = []): Vendor {
  const url = `https://api.business.githubcopilot.com${path}`;
  const all = [...copilotRules, ...rules];
  return { provider: "github-copilot", api, url, keys: bearer, rules: all, thinks: asksToThink };
}

export const cloudVendors: readonly Vendor[] = [
  { ...bedrock, keys: bearer },
  { ...bedrock, setUp: "AWS keys", keys: [] },
  { ...azure, api: "azure-openai-responses", url: `${azureResource}/v1/responses` },
  {
    ...azure,
    api: "azure-openai-responses",
    setUp: "dated API version",
    url: `${azureResource}/responses`,
    rules: [...azure.rules, needsDate],
  },
  { ...azure, api: "openai-completions", url: `${azureResource}/v1/chat/completions` },
  {
    ...azure,
    api: "openai-completions",
    setUp: "dated API version",
    url: `${azureResource}/deployments/{model}/chat/completions`,
    rules: [...azure.rules, needsDate],
  },
  {
    ...vertex,
    ...gemini,
    url: `https://aiplatform.googleapis.com/v1/${geminiPath}`,
    keys: googleKey,
  },
  {
    ...vertex,
    ...gemini,
    setUp: "application default credentials",
    url: `${vertexProject}/${geminiPath}`,
  },
  {
    ...vertex,
    api: "anthropic-vertex",
    setUp: "application default credentials",
    url: `${vertexProject}/publishers/anthropic/models/{model}:streamRawPredict`,
    thinks: asksToThink,
  },
  {
    provider: "mistral",
    api: "mistral-conversations",
    url: "https://api.mistral.ai/v1/chat/completions",
    keys: bearer,
    rules: [noDeveloper, noEmptyTools, knowsOnly("reasoning_effort")],
    thinks: asksToThink,
  },
  copilot("anthropic-messages", "/v1/messages"),
  copilot("openai-responses", "/responses"),
  copilot("openai-completions", "/chat/completions", [
    noDeveloper,
    noEmptyTools,
    refuses("store", "prompt_cache_retention"),
    knowsOnly(),
  ]),
  {
    provider: "openai-codex",
    api: "openai-codex-responses",
    url: "https://chatgpt.com/backend-api/codex/responses",
    keys: bearer,
    rules: [needsHeader("chatgpt-account-id", /^acct-1$/), needsHeader("originator", /./)],
    thinks: asksToThink,
  },
];
