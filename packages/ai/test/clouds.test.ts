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

/** The configuration of a cloud's user. */
interface Cloud {
  readonly title: string;
  readonly api: LoopbackApi;
  readonly model: Partial<Model>;
  readonly options: (server: LoopbackServer) => StreamOptions | Promise<StreamOptions>;
  readonly credentials: LoopbackCredentials;
  /** Where the first request was sent. */
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

/** A user's credentials, with a service that exchanges them for a token. */
async function loggedIn(): Promise<StreamOptions> {
  const folder = await mkdtemp(join(tmpdir(), "tau-google-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "credentials.json");
  const login = { client_id: "id", client_secret: "s", refresh_token: "refresh-me" };
  await writeFile(path, JSON.stringify({ type: "authorized_user", ...login }));
  return {
    environment: { ...vertex, GOOGLE_APPLICATION_CREDENTIALS: path },
    // Token renewals must also use the given fetch.
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

const copilot = {
  credentials: { key: "tid=1;proxy-ep=proxy.example" },
  options: () => ({ apiKey: "tid=1;proxy-ep=proxy.example" }),
  wrong: { apiKey: "another" },
} as const;

const plans: readonly Cloud[] = [
  {
    api: "openai-codex-responses",
    title: "ChatGPT plans",
    model: { id: "gpt-6-sol", provider: "openai-codex", thinkingLevelMap: { off: "none" } },
    options: () => ({ apiKey: tokenOf("acct-1") }),
    credentials: { key: tokenOf("acct-1") },
    place: "/codex/responses",
    wrong: { apiKey: tokenOf("acct-2") },
  },
  {
    ...copilot,
    api: "openai-responses",
    title: "Copilot over Responses",
    model: { id: "gpt-6-sol", provider: "github-copilot" },
    place: "/v1/responses",
  },
  {
    ...copilot,
    api: "openai-completions",
    title: "Copilot over chat completions",
    model: { id: "gemini-3.8-flash", provider: "github-copilot" },
    place: "/v1/chat/completions",
  },
  {
    ...copilot,
    api: "anthropic-messages",
    title: "Copilot over Messages",
    model: {
      id: "claude-sonnet-5",
      provider: "github-copilot",
      compat: { forceAdaptiveThinking: true },
    },
    credentials: { bearer: "tid=1;proxy-ep=proxy.example" },
    place: "/v1/messages",
  },
];

const scriptedCodex: Model = {
  id: "gpt-6-sol",
  name: "gpt-6-sol",
  api: "openai-codex-responses",
  provider: "openai-codex",
  baseUrl: "",
  reasoning: true,
  input: ["text"],
  cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 100_000,
  maxTokens: 1000,
};

/** A ChatGPT token, which contains the account. */
function tokenOf(account: string): string {
  const claims = { "https://api.openai.com/auth": { chatgpt_account_id: account } };
  return `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`;
}

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

describe.each([...clouds, ...plans])("$title", (cloud) => {
  it.each(["high", "off"] as const)("handles a whole tool turn, thinking %s", async (level) => {
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
    // After a resume, only the stored messages remain.
    const stored: LlmMessage[] = JSON.parse(JSON.stringify([...history, second.message]));
    const third = await sender()(model, [...stored, user("Thanks")], options);
    expect(third.message).toMatchObject({ stopReason: "stop", content: [{ text: "Bye." }] });
    const [request] = server.requests;
    expect(`${request?.path}${request?.search}`).toBe(cloud.place);
    expect(server.refusals).toEqual([]);
  });

  it.each(loopbackApis.filter((api) => api !== cloud.api))(
    "accepts a history created over %s",
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

  it("reports which credentials are wrong, and sends nothing twice", async () => {
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

describe("Gemini on Vertex", () => {
  it("shows arguments while they arrive", async () => {
    const args = { path: "a file with a long name.txt", lines: [{ from: 1, text: "ü\n" }] };
    const call = turn([toolCall("read", args)]);
    await using server = await startLoopbackServer({ scenario: [call] });
    const model = server.model("google-vertex", { ...gemini.model, reasoning: true });
    const reply = createStream()(model, { messages: [user("Look")], tools }, { apiKey: "k" });
    const deltas: string[] = [];
    const shown: unknown[] = [];
    for (;;) {
      const { done, value } = await reply.next();
      if (done) break;
      if (value.type !== "toolcall_delta") continue;
      deltas.push(value.delta);
      const [block] = value.partial.content;
      shown.push(block?.type === "toolCall" && structuredClone(block.arguments));
    }
    expect(deltas.join("")).toBe(JSON.stringify(args));
    expect(shown.slice(0, 2)).toEqual([{ path: "a file w" }, { path: "a file with a lo" }]);
    expect(shown.at(-1)).toEqual(args);
  });
});

describe("a ChatGPT plan", () => {
  const [codex] = plans;
  if (codex === undefined) throw new TypeError("no row");

  it("receives the account, the host and the session; custom headers take precedence", async () => {
    await using server = await serve(codex);
    const options = { ...(await codex.options(server)), sessionId: "s-1" };
    await sender()(modelOf(server, codex), [user("Look")], options);
    const headers = { "chatgpt-account-id": "acct-9" };
    await sender()(modelOf(server, codex), [user("Look")], { ...options, headers });
    expect(server.requests[0]?.headers).toMatchObject({
      "chatgpt-account-id": "acct-1",
      originator: "tau",
      "session-id": "s-1",
    });
    expect(server.requests[1]?.headers).toMatchObject({ "chatgpt-account-id": "acct-9" });
  });

  it("gets the system prompt as instructions, and no limit, temperature or stored reply", async () => {
    await using server = await serve(codex);
    const limits = { maxTokens: 100, temperature: 0.5, cacheRetention: "long" } as const;
    const options = { ...(await codex.options(server)), ...limits };
    await sender()(modelOf(server, codex), [user("Look")], options);
    const { body } = server.requests[0] ?? {};
    expect(body).toMatchObject({ instructions: "Be brief.", store: false, tool_choice: "auto" });
    for (const name of ["max_output_tokens", "temperature", "prompt_cache_retention"]) {
      expect(body).not.toHaveProperty(name);
    }
    expect(JSON.stringify(Object(body).input)).not.toContain("Be brief.");
  });

  it.each([
    ["", "/codex/responses"],
    ["/backend-api/", "/backend-api/codex/responses"],
    ["/codex", "/codex/responses"],
    ["/backend-api/codex/responses", "/backend-api/codex/responses"],
  ])("is reached at the base URL …%s", async (path, place) => {
    await using server = await serve(codex);
    const model = { ...modelOf(server, codex), baseUrl: `${server.url}${path}` };
    const { error } = await sender()(model, [user("Look")], await codex.options(server));
    expect(error).toBeUndefined();
    expect(server.requests[0]?.path).toBe(place);
  });

  it("does not justify a retry when it is exhausted", async () => {
    const stream = createStream();
    const body = {
      error: { type: "usage_limit_reached", message: "Limit reached", resets_in_seconds: 7200 },
    };
    const reply = stream(
      { ...scriptedCodex, baseUrl: "https://vendor.invalid" },
      { messages: [user("Hi")] },
      { apiKey: "k", fetch: async () => Response.json(body, { status: 429 }) },
    );
    for (;;) {
      const next = await reply.next();
      if (!next.done) continue;
      expect(next.value.error).toMatchObject({
        code: "quota",
        isRetryable: false,
        retryAfterMs: 7_200_000,
        message: expect.stringMatching(
          /It can be used again in 2 h, at 20\d\d-\d\d-\d\d \d\d:\d\d UTC; until then choose another model\.$/,
        ),
      });
      return;
    }
  });
});

describe("Copilot", () => {
  const image = { type: "image", data: "aGk=", mimeType: "image/png" } as const;

  it.each(plans.slice(1))(
    "$title receives the initiator, and whether there are images",
    async (plan) => {
      await using server = await serve(plan);
      const model = { ...modelOf(server, plan), headers: { "Editor-Version": "vscode/9" } };
      const options = await plan.options(server);
      const send = sender();
      const { message } = await send(model, [user("Look")], options);
      await send(model, [user("Look"), message, ...answers(message)], options);
      await send(model, [user("Again")], { ...options, initiator: "agent" });
      await send(model, [{ role: "user", content: [image], timestamp: 1 }], options);
      const sent = server.requests.map(({ headers }) => headers);
      expect(sent.map((headers) => headers["x-initiator"])).toEqual([
        "user",
        "agent",
        "agent",
        "user",
      ]);
      expect(sent.map((headers) => headers["copilot-vision-request"])).toEqual([
        undefined,
        undefined,
        undefined,
        "true",
      ]);
      expect(sent[0]).toMatchObject({
        authorization: "Bearer tid=1;proxy-ep=proxy.example",
        "editor-version": "vscode/9",
        "editor-plugin-version": expect.stringMatching(/^copilot-chat/),
        "copilot-integration-id": "vscode-chat",
        "openai-intent": "conversation-edits",
      });
      expect(sent[0]).not.toHaveProperty("x-api-key");
    },
  );

  it("is reached at the address that the login supplies", async () => {
    const [, plan] = plans;
    if (plan === undefined) throw new TypeError("no row");
    await using server = await serve(plan);
    const model = { ...modelOf(server, plan), baseUrl: "https://elsewhere.invalid" };
    const options = { ...(await plan.options(server)), baseUrl: `${server.url}/v1` };
    expect((await sender()(model, [user("Look")], options)).error).toBeUndefined();
  });
});
