import {
  type LoopbackCredentials,
  startLoopbackServer,
  toolCall,
  turn,
} from "@tau-agent/ai/testing";
import { expect, it } from "vitest";
import { startHost } from "../support/start-host.ts";

/** Files in the format of pi 1.5; only the addresses are those of local servers. */
interface Files {
  readonly provider: string;
  /** The named model, or the default that is expected if no model is named. */
  readonly model: string;
  readonly isDefault?: boolean;
  readonly models: (url: string) => object;
  readonly auth: (url: string) => object;
  readonly environment?: Readonly<Record<string, string>>;
  readonly credentials: LoopbackCredentials;
  readonly path: string;
}

const aws = { accessKeyId: "AKIAFILES", secretAccessKey: "files-secret", region: "eu-west-3" };
const claude = "us.anthropic.claude-sonnet-4-6";
const profile = "arn:aws:bedrock:us-west-2:123456789012:application-inference-profile/abc";
const gemini = "gemini-3.1-pro-preview";

const copilotToken = "tid=1;exp=9999999999;proxy-ep=proxy.business.githubcopilot.com;files-token";
const login = { type: "oauth", refresh: "files-refresh", expires: Date.now() + 24 * 3_600_000 };
const copilot = {
  provider: "github-copilot",
  models: (baseUrl: string) => ({ baseUrl }),
  auth: () => ({
    ...login,
    access: copilotToken,
    availableModelIds: ["gpt-6-sol", "claude-sonnet-5", "gemini-3.8-flash"],
  }),
  credentials: { bearer: copilotToken },
};

const cases: readonly Files[] = [
  { ...copilot, model: "claude-sonnet-5", isDefault: true, path: "/v1/messages" },
  { ...copilot, model: "gpt-6-sol", path: "/responses" },
  { ...copilot, model: "gemini-3.8-flash", path: "/chat/completions" },
  {
    provider: "openai-codex",
    model: "gpt-6.1-sol",
    isDefault: true,
    models: (url) => ({ baseUrl: `${url}/backend-api` }),
    auth: () => ({ ...login, access: "files-token", accountId: "acct-1" }),
    credentials: { bearer: "files-token" },
    path: "/backend-api/codex/responses",
  },
  {
    provider: "amazon-bedrock",
    model: claude,
    models: (baseUrl) => ({ baseUrl }),
    auth: () => ({
      type: "api_key",
      env: {
        AWS_ACCESS_KEY_ID: aws.accessKeyId,
        AWS_SECRET_ACCESS_KEY: aws.secretAccessKey,
        AWS_REGION: aws.region,
      },
    }),
    credentials: { aws },
    path: `/model/${claude}/converse-stream`,
  },
  {
    provider: "amazon-bedrock",
    model: profile,
    models: (baseUrl) => ({
      baseUrl,
      api: "bedrock-converse-stream",
      models: [{ id: profile, name: "Claude Sonnet 4.6", reasoning: true }],
    }),
    auth: () => ({ type: "api_key", key: "files-key", env: { AWS_REGION: "us-west-2" } }),
    credentials: { key: "files-key" },
    path: `/model/${encodeURIComponent(profile)}/converse-stream`,
  },
  {
    provider: "amazon-bedrock",
    model: "global.anthropic.claude-sonnet-5-5",
    isDefault: true,
    models: (baseUrl) => ({ baseUrl }),
    auth: () => ({}),
    environment: { AWS_BEARER_TOKEN_BEDROCK: "files-key" },
    credentials: { key: "files-key" },
    path: "/model/global.anthropic.claude-sonnet-5-5/converse-stream",
  },
  {
    provider: "google-vertex",
    model: gemini,
    isDefault: true,
    models: (baseUrl) => ({ baseUrl }),
    auth: () => ({ type: "api_key", key: "files-key" }),
    credentials: { key: "files-key" },
    path: `/v1/publishers/google/models/${gemini}:streamGenerateContent`,
  },
  {
    // The format in which pi stores application default credentials; the server here needs none.
    provider: "google-vertex",
    model: gemini,
    models: (baseUrl) => ({ baseUrl, apiKey: "gcp-vertex-credentials" }),
    auth: () => ({}),
    environment: { GOOGLE_CLOUD_PROJECT: "p", GOOGLE_CLOUD_LOCATION: "europe-west1" },
    credentials: { key: undefined, bearer: undefined },
    path: `/v1/projects/p/locations/europe-west1/publishers/google/models/${gemini}:streamGenerateContent`,
  },
  {
    provider: "azure-openai-responses",
    model: "gpt-5.4",
    models: () => ({ modelOverrides: { "gpt-5.4": { contextWindow: 100_000 } } }),
    auth: (url) => ({
      type: "api_key",
      key: "files-key",
      env: { AZURE_OPENAI_BASE_URL: url, AZURE_OPENAI_DEPLOYMENT_NAME_MAP: "gpt-5.4=mine" },
    }),
    credentials: { key: "files-key" },
    path: "/openai/v1/responses",
  },
  {
    provider: "mistral",
    model: "mistral-medium-latest",
    isDefault: true,
    models: (url) => ({ baseUrl: `${url}/mistral` }),
    auth: () => ({ type: "api_key", key: "files-key" }),
    credentials: { key: "files-key" },
    path: "/mistral/chat/completions",
  },
];

it.each(cases)(
  "unchanged models.json and auth.json of pi reach $provider/$model",
  async (given) => {
    const { provider, model, isDefault, environment, path } = given;
    const call = turn(["Let me look.", toolCall("read", { path: "notes.txt" })]);
    const hasCredentials = Object.values(given.credentials).some((value) => value !== undefined);
    await using server = await startLoopbackServer({
      scenario: [call, "Two lines."],
      ...(hasCredentials && { credentials: given.credentials }),
    });
    const auth = given.auth(server.url);
    const entries = Object.keys(auth).length === 0 ? {} : { [provider]: auth };
    const files = {
      "agent/models.json": JSON.stringify({ providers: { [provider]: given.models(server.url) } }),
      "agent/auth.json": JSON.stringify(entries),
    };
    const named = isDefault ? ["--provider", provider] : ["--model", `${provider}/${model}`];
    const host = startHost({
      files,
      ...(environment && { environment }),
      arguments: [...named, "--thinking", "high"],
    });
    host.send({ type: "get_state", id: "state" });
    const state = await host.until({ "...": true, id: "state" });
    expect(state.data).toMatchObject({ model: { id: model } });
    host.send({ type: "prompt", id: "prompt", message: "go" });
    const end = await host.until({ "...": true, type: "agent_end" });
    expect(JSON.stringify(end)).toContain("Two lines.");
    await host.finish();
    expect(server.requests.map((request) => request.path)).toEqual([path, path]);
    expect(JSON.stringify(server.requests[1]?.body)).toContain("notes.txt");
    for (const secret of ["files-secret", "files-key", "files-token", "files-refresh"]) {
      expect(host.stdout + host.stderr).not.toContain(secret);
    }
  },
);
