import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AssistantMessage, LlmMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Context, createStream, type StreamOptions, type StreamResult } from "../src/index.ts";
import {
  type LoopbackApi,
  type LoopbackCredentials,
  type LoopbackServer,
  loopbackApis,
  startLoopbackServer,
  thinking,
  toolCall,
  turn,
} from "../src/testing/index.ts";

/** How a user of a cloud has it set up. */
interface Cloud {
  readonly title: string;
  readonly api: LoopbackApi;
  readonly model: Partial<Model>;
  readonly options: (server: LoopbackServer) => StreamOptions | Promise<StreamOptions>;
  readonly credentials: LoopbackCredentials;
  /** Where the first request went. */
  readonly place: string;
  readonly wrong: StreamOptions;
}

const azure = { api: "azure-openai-responses", credentials: { key: "azure-key" } } as const;

const bedrock = {
  api: "bedrock-converse-stream",
  model: { id: "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", provider: "amazon-bedrock" },
  place: "/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream",
} as const;

const vertex = {
  ...{ GOOGLE_CLOUD_PROJECT: "my-project", GOOGLE_CLOUD_LOCATION: "europe-west1" },
  HOME: "/nonexistent",
};
const inProject = "/v1/projects/my-project/locations/europe-west1/publishers";
const gemini = {
  api: "google-vertex",
  model: { id: "gemini-3.1-pro-preview", provider: "google-vertex" },
} as const;
const claudeOnVertex = {
  api: "anthropic-vertex",
  model: { id: "claude-sonnet-4-6@20260101", provider: "google-vertex" },
} as const;

/** A user's credentials, and a service that makes a token of them. */
async function loggedIn(): Promise<StreamOptions> {
  const folder = await mkdtemp(join(tmpdir(), "tau-google-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "credentials.json");
  const login = { client_id: "id", client_secret: "s", refresh_token: "refresh-me" };
  await writeFile(path, JSON.stringify({ type: "authorized_user", ...login }));
  return {
    environment: { ...vertex, GOOGLE_APPLICATION_CREDENTIALS: path },
    // Tokens are renewed on the way that requests take, too.
    fetch: async (url, init) => {
      if (!String(url).startsWith("https://oauth2.googleapis.com/token")) return fetch(url, init);
      const isRight = String(init?.body).includes("refresh-me");
      const body = isRight ? { access_token: "google-token", expires_in: 3600 } : { error: "no" };
      return Response.json(body, { status: isRight ? 200 : 400 });
    },
  };
}

const clouds: readonly Cloud[] = [
  {
    ...azure,
    title: "Azure, v1",
    model: { id: "gpt-6-sol", provider: "azure", baseUrl: "" },
    options: ({ url }) => ({
      apiKey: "azure-key",
      environment: { AZURE_OPENAI_BASE_URL: url },
    }),
    place: "/openai/v1/responses",
    wrong: { apiKey: "another" },
  },
  {
    ...azure,
    title: "Azure, dated",
    model: { id: "gpt-6-sol", provider: "azure" },
    options: () => ({
      apiKey: "azure-key",
      environment: {
        AZURE_OPENAI_API_VERSION: "2025-04-01-preview",
        AZURE_OPENAI_DEPLOYMENT_NAME_MAP: "gpt-6-sol=loopback",
      },
    }),
    place: "/openai/responses?api-version=2025-04-01-preview",
    wrong: { apiKey: "" },
  },
  {
    ...bedrock,
    title: "Bedrock, with a key",
    options: () => ({ apiKey: "bedrock-key" }),
    credentials: { key: "bedrock-key" },
    wrong: { apiKey: "another" },
  },
  {
    ...bedrock,
    title: "Bedrock, signed",
    options: () => ({
      environment: {
        AWS_ACCESS_KEY_ID: "AKIATEST",
        AWS_SECRET_ACCESS_KEY: "secret/+=",
        AWS_SESSION_TOKEN: "session",
        AWS_REGION: "eu-west-3",
      },
    }),
    credentials: {
      aws: {
        accessKeyId: "AKIATEST",
        secretAccessKey: "secret/+=",
        sessionToken: "session",
        region: "eu-west-3",
      },
    },
    wrong: {
      environment: {
        AWS_ACCESS_KEY_ID: "AKIATEST",
        AWS_SECRET_ACCESS_KEY: "another",
        AWS_SESSION_TOKEN: "session",
        AWS_REGION: "eu-west-3",
      },
    },
  },
  {
    ...gemini,
    title: "Gemini on Vertex, with a key",
    options: () => ({ apiKey: "vertex-key", environment: vertex }),
    credentials: { key: "vertex-key" },
    place: "/v1/publishers/google/models/gemini-3.1-pro-preview:streamGenerateContent?alt=sse",
    wrong: { apiKey: "another" },
  },
  {
    ...gemini,
    title: "Gemini on Vertex, with application default credentials",
    options: loggedIn,
    credentials: { googleToken: "google-token" },
    place: `${inProject}/google/models/gemini-3.1-pro-preview:streamGenerateContent?alt=sse`,
    wrong: { apiKey: "key-instead" },
  },
  {
    ...gemini,
    model: { ...gemini.model, id: "gemini-2.5-flash" },
    title: "Gemini 2.5 on Vertex",
    options: loggedIn,
    credentials: { googleToken: "google-token" },
    place: `${inProject}/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse`,
    wrong: { apiKey: "key-instead" },
  },
  {
    ...claudeOnVertex,
    title: "Claude on Vertex",
    options: loggedIn,
    credentials: { googleToken: "google-token" },
    place: `${inProject}/anthropic/models/claude-sonnet-4-6%4020260101:streamRawPredict`,
    wrong: { apiKey: "key-instead" },
  },
  {
    api: "mistral-conversations",
    title: "Mistral",
    model: { id: "mistral-medium-latest", provider: "mistral" },
    options: () => ({ apiKey: "mistral-key" }),
    credentials: { key: "mistral-key" },
    place: "/mistral/chat/completions",
    wrong: { apiKey: "another" },
  },
];

const tools = [
  {
    name: "read",
    description: "Reads a file",
    parameters: { type: "object", properties: { path: { type: "string" } } },
  },
];

const user = (content: string): LlmMessage => ({ role: "user", content, timestamp: 1 });
const scenario = [
  turn([
    thinking("Which file?", { signature: "c2lnbmF0dXJl" }),
    "Let me look.",
    toolCall("read", { path: "a.txt", depth: { list: [1, "ü"] } }),
    toolCall("read", { path: "b.txt" }),
  ]),
  "Two files.",
  "Bye.",
];

type Send = (
  model: Model,
  messages: readonly LlmMessage[],
  options: StreamOptions,
) => Promise<StreamResult>;

function sender(): Send {
  const stream = createStream();
  return async (model, messages, options) => {
    const context: Context = { systemPrompt: "Be brief.", messages, tools };
    const reply = stream(model, context, { sessionId: "s", ...options });
    for (;;) {
      const next = await reply.next();
      if (next.done) return next.value;
    }
  };
}

function answers(message: AssistantMessage): LlmMessage[] {
  return message.content.flatMap((block): LlmMessage[] => {
    if (block.type !== "toolCall") return [];
    const result = { toolCallId: block.id, toolName: block.name, isError: false, timestamp: 1 };
    return [{ role: "toolResult", ...result, content: [{ type: "text", text: "done" }] }];
  });
}

async function serve({ credentials }: Pick<Cloud, "credentials">) {
  return startLoopbackServer({ scenario, credentials });
}

function modelOf(server: LoopbackServer, { api, model }: Cloud): Model {
  return server.model(api, { reasoning: true, input: ["text", "image"], ...model });
}

describe.each(clouds)("$title", (cloud) => {
  it.each(["high", "off"] as const)("serves a whole tool turn, thinking %s", async (level) => {
    await using server = await serve(cloud);
    const model = modelOf(server, cloud);
    const options = { ...(await cloud.options(server)), thinkingLevel: level };
    const send = sender();
    const first = await send(model, [user("Look")], options);
    expect(first.error).toBeUndefined();
    expect(first.message).toMatchObject({
      stopReason: "toolUse",
      api: cloud.api,
      content: [
        { type: "thinking", thinking: "Which file?" },
        { type: "text", text: "Let me look." },
        { type: "toolCall", name: "read", arguments: { path: "a.txt", depth: { list: [1, "ü"] } } },
        { type: "toolCall", name: "read", arguments: { path: "b.txt" } },
      ],
    });
    expect(first.message.usage.output).toBeGreaterThan(0);
    expect(first.message.usage.cost.total).toBeGreaterThanOrEqual(0);
    const history = [user("Look"), first.message, ...answers(first.message)];
    const second = await send(model, history, options);
    expect(second.message.content).toEqual([expect.objectContaining({ text: "Two files." })]);
    // On resume nothing but the stored messages is left.
    const stored: LlmMessage[] = JSON.parse(JSON.stringify([...history, second.message]));
    const third = await sender()(model, [...stored, user("Thanks")], options);
    expect(third.message).toMatchObject({ stopReason: "stop", content: [{ text: "Bye." }] });
    const [request] = server.requests;
    expect(`${request?.path}${request?.search}`).toBe(cloud.place);
    expect(server.refusals).toEqual([]);
  });

  it.each(loopbackApis.filter((api) => api !== cloud.api))(
    "takes a history that came over %s",
    async (api) => {
      await using other = await startLoopbackServer({ scenario });
      const { message } = await sender()(
        other.model(api, { reasoning: true, provider: "elsewhere" }),
        [user("Look")],
        { apiKey: "k", thinkingLevel: "high" },
      );
      expect(message.stopReason).toBe("toolUse");
      await using server = await serve(cloud);
      const history = [user("Look"), message, ...answers(message), user("And?")];
      const { error } = await sender()(modelOf(server, cloud), history, {
        ...(await cloud.options(server)),
        thinkingLevel: "high",
      });
      expect(error).toBeUndefined();
      expect(server.refusals).toEqual([]);
    },
  );

  it("says which credentials are wrong, and sends nothing twice", async () => {
    await using server = await serve(cloud);
    const { error } = await sender()(modelOf(server, cloud), [user("Look")], {
      ...(await cloud.options(server)),
      ...cloud.wrong,
    });
    expect(error).toMatchObject({ code: "auth", isRetryable: false });
    expect(error?.message).toContain(server.url);
    expect(server.requestCount).toBe(1);
  });
});
