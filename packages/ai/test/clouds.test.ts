import type { AssistantMessage, LlmMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
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
  readonly options: (server: LoopbackServer) => StreamOptions;
  readonly credentials: LoopbackCredentials;
  /** Where the first request went. */
  readonly place: string;
  readonly wrong: StreamOptions;
}

const azure = { api: "azure-openai-responses", credentials: { key: "azure-key" } } as const;

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
    const options = { ...cloud.options(server), thinkingLevel: level };
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
        ...cloud.options(server),
        thinkingLevel: "high",
      });
      expect(error).toBeUndefined();
      expect(server.refusals).toEqual([]);
    },
  );

  it("says which credentials are wrong, and sends nothing twice", async () => {
    await using server = await serve(cloud);
    const { error } = await sender()(modelOf(server, cloud), [user("Look")], {
      ...cloud.options(server),
      ...cloud.wrong,
    });
    expect(error).toMatchObject({ code: "auth", isRetryable: false });
    expect(error?.message).toContain(server.url);
    expect(server.requestCount).toBe(1);
  });
});
