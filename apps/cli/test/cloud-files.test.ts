import {
  type LoopbackCredentials,
  startLoopbackServer,
  toolCall,
  turn,
} from "@tau-agent/ai/testing";
import { describe, expect, it } from "vitest";
import { memoryHost } from "./support/hosts.ts";

/** Files as pi 1.5 has them for its clouds; the address is that of a server on this machine. */
interface Files {
  readonly provider: string;
  readonly model: string;
  readonly models: (url: string) => object;
  readonly auth: (url: string) => object;
  readonly credentials: LoopbackCredentials;
  readonly path: string;
}

const aws = { accessKeyId: "AKIAFILES", secretAccessKey: "files-secret", region: "eu-west-3" };
const claude = "us.anthropic.claude-sonnet-4-6";
const profile = "arn:aws:bedrock:us-west-2:123456789012:application-inference-profile/abc";
const gemini = "gemini-3.1-pro-preview";

const cases: readonly Files[] = [
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
    auth: () => ({ type: "api_key", key: "bedrock-key", env: { AWS_REGION: "us-west-2" } }),
    credentials: { key: "bedrock-key" },
    path: `/model/${encodeURIComponent(profile)}/converse-stream`,
  },
  {
    provider: "google-vertex",
    model: gemini,
    models: (baseUrl) => ({ baseUrl }),
    auth: () => ({ type: "api_key", key: "vertex-key" }),
    credentials: { key: "vertex-key" },
    path: `/v1/publishers/google/models/${gemini}:streamGenerateContent`,
  },
  {
    provider: "azure-openai-responses",
    model: "gpt-5.4",
    models: () => ({ modelOverrides: { "gpt-5.4": { contextWindow: 100_000 } } }),
    auth: (url) => ({
      type: "api_key",
      key: "azure-key",
      env: { AZURE_OPENAI_BASE_URL: url, AZURE_OPENAI_DEPLOYMENT_NAME_MAP: "gpt-5.4=mine" },
    }),
    credentials: { key: "azure-key" },
    path: "/openai/v1/responses",
  },
  {
    provider: "mistral",
    model: "mistral-medium-latest",
    models: (url) => ({ baseUrl: `${url}/mistral` }),
    auth: () => ({ type: "api_key", key: "mistral-key" }),
    credentials: { key: "mistral-key" },
    path: "/mistral/chat/completions",
  },
];

describe("models.json and auth.json of pi", () => {
  it.each(cases)("reach $provider/$model as they are", async (given) => {
    const { provider, model, credentials } = given;
    const call = turn(["Let me look.", toolCall("read", { path: "notes.txt" })]);
    await using server = await startLoopbackServer({ scenario: [call, "Two lines."], credentials });
    const files = {
      "agent/models.json": JSON.stringify({ providers: { [provider]: given.models(server.url) } }),
      "agent/auth.json": JSON.stringify({ [provider]: given.auth(server.url) }),
    };
    const arguments_ = ["--model", `${provider}/${model}`, "--thinking", "high"];
    await using host = await memoryHost({
      title: provider,
      requirements: [],
      files,
      arguments: arguments_,
    });
    host.send('{"id":"1","type":"prompt","message":"go"}');
    let last: Record<string, unknown> | undefined;
    const seen: string[] = [];
    while (last?.type !== "agent_end") {
      last = await host.next();
      if (last === undefined) throw new RangeError(`no end: ${seen.at(-1)}`);
      seen.push(JSON.stringify(last));
    }
    expect(seen.at(-1)).toContain("Two lines.");
    expect(server.requests.map(({ path }) => path)).toEqual([given.path, given.path]);
    expect(JSON.stringify(server.requests[1]?.body)).toContain("notes.txt");
    for (const secret of ["files-secret", "-key"]) expect(seen.join("")).not.toContain(secret);
  });
});
