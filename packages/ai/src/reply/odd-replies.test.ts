import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { LlmMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import { createStream, type StreamResult } from "../stream.ts";

const apis = [
  "anthropic-messages",
  "openai-completions",
  "openai-responses",
  "google-generative-ai",
] as const;
type Api = (typeof apis)[number];

function modelOf(api: Api, more: Partial<Model> = {}): Model {
  return {
    id: "m",
    name: "M",
    api,
    provider: "p",
    baseUrl: "https://vendor.invalid/v1",
    reasoning: false,
    input: ["text"],
    cost: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
    contextWindow: 100_000,
    maxTokens: 8000,
    ...more,
  };
}

/** Streams an unusual reply from a server; returns what a client makes of it. */
async function play(
  api: Api,
  chunks: readonly unknown[],
  { messages, model }: { messages?: LlmMessage[]; model?: Partial<Model> } = {},
): Promise<StreamResult & { events: AssistantMessageEvent[]; body: Record<string, unknown> }> {
  let body = {};
  const text = chunks
    .map((chunk) => {
      const type = (chunk as { type?: unknown } | null)?.type;
      const name =
        api === "anthropic-messages" && typeof type === "string" ? `event: ${type}\n` : "";
      return `${name}data: ${JSON.stringify(chunk)}\n\n`;
    })
    .join("");
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    body = JSON.parse(String(init?.body));
    return new Response(text, { headers: { "content-type": "text/event-stream" } });
  };
  const context = {
    messages: messages ?? [{ role: "user" as const, content: "Hi", timestamp: 1 }],
  };
  const reply = createStream()(modelOf(api, model), context, { apiKey: "k", fetch });
  const events: AssistantMessageEvent[] = [];
  for (;;) {
    const next = await reply.next();
    if (next.done) return { ...next.value, events, body };
    events.push(next.value);
  }
}

interface Call {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly arguments?: unknown;
}

interface Odd {
  readonly text?: unknown;
  readonly calls?: readonly Call[];
  /** A token count in the form that the server sends. */
  readonly count?: unknown;
  readonly stop?: "stop" | "length";
}

/** The same reply in each vendor's format. */
const replies: Readonly<Record<Api, (odd: Odd) => unknown[]>> = {
  "anthropic-messages": ({ text, calls = [], count = 3, stop = "stop" }) => [
    { type: "message_start", message: { id: 7, model: {}, usage: { input_tokens: count } } },
    ...[
      ...(text === undefined ? [] : [{ type: "text", text }]),
      ...calls.map(({ arguments: input, ...call }) => ({ type: "tool_use", ...call, input })),
    ].flatMap((content_block, index) => [
      { type: "content_block_start", index, content_block },
      { type: "content_block_start", index, content_block },
      { type: "content_block_stop", index },
      { type: "content_block_stop", index },
    ]),
    {
      type: "message_delta",
      delta: { stop_reason: stop === "stop" ? "end_turn" : "max_tokens" },
      usage: { output_tokens: count },
    },
    { type: "message_stop" },
  ],
  "openai-completions": ({ text, calls = [], count = 3, stop = "stop" }) => [
    null,
    { id: 7, model: {}, choices: {} },
    { choices: [{ delta: { content: text } }] },
    ...calls.map(({ id, ...call }, index) => ({
      choices: [{ delta: { tool_calls: [null, { index, id, function: call }] } }],
    })),
    { choices: [{ delta: null, finish_reason: stop }] },
    { choices: [{ delta: {}, finish_reason: stop }] },
    { choices: [], usage: { prompt_tokens: count, completion_tokens: count } },
  ],
  "openai-responses": ({ text, calls = [], count = 3, stop = "stop" }) => {
    const items = [
      ...(text === undefined
        ? []
        : [{ type: "message", id: "msg_1", content: [{ type: "output_text", text }] }]),
      ...calls.map(({ id, ...call }, at) => ({
        type: "function_call",
        id: `fc_${at}`,
        call_id: id,
        ...call,
      })),
    ];
    const isCut = stop === "length";
    return [
      { type: "response.created", response: { id: 7, model: {}, output: "none" } },
      ...items.flatMap((item, output_index) => {
        const added = { ...item, content: [], arguments: "" };
        return [
          { type: "response.output_item.added", output_index, item: added },
          { type: "response.output_item.added", output_index, item: added },
          { type: "response.output_item.done", output_index, item },
          { type: "response.output_item.done", output_index, item },
        ];
      }),
      {
        type: isCut ? "response.incomplete" : "response.completed",
        response: {
          status: isCut ? "incomplete" : "completed",
          usage: { input_tokens: count, output_tokens: count },
        },
      },
    ];
  },
  "google-generative-ai": ({ text, calls = [], count = 3, stop = "stop" }) => [
    { responseId: 7, modelVersion: {}, candidates: {} },
    {
      candidates: [
        {
          content: {
            parts: [
              ...(text === undefined ? [] : [null, { text }]),
              ...calls.map(({ arguments: args, ...call }) => ({ functionCall: { ...call, args } })),
            ],
          },
        },
      ],
    },
    {
      candidates: [{ finishReason: stop === "stop" ? "STOP" : "MAX_TOKENS" }],
      usageMetadata: { promptTokenCount: count, candidatesTokenCount: count },
    },
  ],
};

function callsOf({ message }: StreamResult) {
  return message.content.filter((block) => block.type === "toolCall");
}

describe.each(apis)("an odd reply over %s", (api) => {
  const odd = (reply: Odd, more?: Parameters<typeof play>[2]) =>
    play(api, replies[api](reply), more);

  it("is read even if texts are numbers, and ids are numbers, empty or objects", async () => {
    const calls = [
      { id: 5, name: 6, arguments: {} },
      { id: "", name: "run", arguments: { a: 1 } },
      { id: {}, name: "run", arguments: '{"a":2}' },
    ];
    const result = await odd({ text: 12, calls });
    expect(result.message.content[0]).toMatchObject({ type: "text", text: "12" });
    const read = callsOf(result);
    expect(read.map(({ name }) => name)).toEqual(["6", "run", "run"]);
    expect(read.map((call) => call.arguments)).toEqual([{}, { a: 1 }, { a: 2 }]);
    expect(new Set(read.map(({ id }) => id)).size).toBe(3);
    expect(read.every(({ id }) => typeof id === "string" && id !== "")).toBe(true);
  });

  it("with two calls that share an id yields two calls with different ids", async () => {
    const call = { id: "c1", name: "run", arguments: { a: 1 } };
    const result = await odd({ calls: [call, { ...call, arguments: { a: 2 } }] });
    const read = callsOf(result);
    expect(read.map((block) => block.arguments)).toEqual([{ a: 1 }, { a: 2 }]);
    expect(new Set(read.map(({ id }) => id)).size).toBe(2);
  });

  it.each([[undefined], [""], [{}]])(
    "fails with a retryable error if a call has no name but %j",
    async (name) => {
      const result = await odd({ text: "Hi", calls: [{ id: "c1", name, arguments: {} }] });
      expect(result.error?.isRetryable).toBe(true);
      expect(result.message.stopReason).toBe("error");
    },
  );

  it("may contain arguments nested 10 000 levels deep", async () => {
    const deep = `{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`;
    const result = await odd({ calls: [{ id: "c1", name: "run", arguments: deep }] });
    expect(callsOf(result)).toMatchObject([{ name: "run", argumentsError: deep }]);
    expect(() => JSON.stringify(result.events)).not.toThrow();
    const next = await odd(
      { text: "ok" },
      { messages: [{ role: "user", content: "Hi", timestamp: 1 }, result.message] },
    );
    expect(next.message.stopReason).toBe("stop");
  });

  it("may follow a history that already contains such arguments", async () => {
    const first = await odd({ calls: [{ id: "c1", name: "run", arguments: {} }] });
    let deep: unknown = 1;
    for (let depth = 0; depth < 10_000; depth++) deep = [deep];
    const content = callsOf(first).map((call) => ({ ...call, arguments: { deep } }));
    const messages: LlmMessage[] = [
      { role: "user", content: "Hi", timestamp: 1 },
      { ...first.message, content },
    ];
    expect((await odd({ text: "ok" }, { messages })).message.stopReason).toBe("stop");
  });

  it.each([
    ["12", 12],
    [-5, 0],
    ["many", 0],
    [null, 0],
    [{}, 0],
  ])("counts %j tokens as %s", async (count, read) => {
    const { message } = await odd({ text: "Hi", count });
    expect(message.usage).toMatchObject({ input: read, output: read });
    expect(message.usage.cost.total).toBeGreaterThanOrEqual(0);
  });

  it.each([undefined, "", " \n"])(
    "fails with a retryable error if its only content is %j",
    async (text) => {
      const { error, message } = await odd({ text });
      expect(error?.isRetryable).toBe(true);
      expect(message).toMatchObject({
        stopReason: "error",
        errorMessage: expect.stringContaining("empty reply"),
      });
    },
  );

  it("is an overflow if the limit left no room for any output", async () => {
    expect((await odd({ stop: "length" })).error?.code).toBe("context_overflow");
    expect((await odd({ text: "Hi", stop: "length" })).message.stopReason).toBe("length");
  });

  it("is an overflow if the input exceeds the window", async () => {
    const full = await odd({ text: "Hi", count: 900 }, { model: { contextWindow: 800 } });
    expect(full.error?.code).toBe("context_overflow");
    const fits = await odd({ text: "Hi", count: 800 }, { model: { contextWindow: 800 } });
    expect(fits.message.stopReason).toBe("stop");
  });

  it("leads to unique ids, and results after their calls, if each reply has the same ids", async () => {
    const messages: LlmMessage[] = [{ role: "user", content: "Hi", timestamp: 1 }];
    for (let turn = 0; turn < 3; turn++) {
      const { message } = await odd({
        text: "on it",
        calls: [{ id: "c1", name: "run", arguments: { turn } }],
      });
      messages.push(message);
      for (const { id } of callsOf({ message })) {
        messages.push({
          role: "toolResult",
          toolCallId: id,
          toolName: "run",
          content: [{ type: "text", text: `result ${turn}` }],
          isError: false,
          timestamp: 1,
        });
      }
    }
    const { body } = await odd({ text: "ok" }, { messages });
    const sent = JSON.stringify(body);
    const made = [...sent.matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id);
    // Gemini 2 has no ids; results follow their calls in order.
    if (api === "google-generative-ai") expect(made).toEqual([]);
    else expect(made.length).toBeGreaterThanOrEqual(3);
    expect(new Set(made).size).toBe(made.length);
    const results = [...sent.matchAll(/result \d/g)].map(String);
    expect(results).toEqual(["result 0", "result 1", "result 2"]);
  });
});

describe("a stop reason that is not a string", () => {
  const reason = { type: "unheard_of", id: {} };
  it.each<[Api, unknown]>([
    ["anthropic-messages", { type: "message_delta", delta: { stop_reason: reason } }],
    ["openai-responses", { type: "response.failed", response: { status: reason } }],
    ["google-generative-ai", { candidates: [{ finishReason: reason }] }],
  ])("fails and shows the reason as text (%s)", async (api, chunk) => {
    const { message } = await play(api, [chunk, { type: "message_stop" }]);
    expect(message.stopReason).toBe("error");
    expect(message.rawStopReason).toBe(JSON.stringify(reason));
    expect(message.errorMessage).toContain(JSON.stringify(reason));
  });
});

describe("vendor-specific behaviour", () => {
  it.each(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"])(
    "retries %s of Gemini",
    async (finishReason) => {
      const { error } = await play("google-generative-ai", [{ candidates: [{ finishReason }] }]);
      expect(error?.isRetryable).toBe(true);
      expect(error?.message).toContain(finishReason);
    },
  );

  it("makes call ids of Responses unique if only the item ids differ", async () => {
    const message = (
      await play(
        "openai-responses",
        replies["openai-responses"]({ calls: [{ id: "a", name: "run", arguments: "{}" }] }),
      )
    ).message;
    const second = JSON.parse(JSON.stringify(message).replaceAll("fc_0", "fc_other"));
    const { body } = await play("openai-responses", replies["openai-responses"]({ text: "ok" }), {
      messages: [{ role: "user", content: "Hi", timestamp: 1 }, message, second],
    });
    const input = body.input as { type: string; call_id?: string }[];
    const idsOf = (type: string) =>
      input.filter((item) => item.type === type).map((item) => item.call_id);
    expect(idsOf("function_call")).toEqual(["a", "a_2"]);
    expect(idsOf("function_call_output")).toEqual(["a", "a_2"]);
  });

  it("replaces the first beginning of a reply from Anthropic with the second", async () => {
    const begin = (id: string, text: string) => [
      { type: "message_start", message: { id, model: "m", usage: { input_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text } },
    ];
    const { message } = await play("anthropic-messages", [
      ...begin("first", "He"),
      ...begin("second", "Hello"),
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
      { type: "message_stop" },
    ]);
    expect(message).toMatchObject({
      responseId: "second",
      content: [{ type: "text", text: "Hello" }],
    });
  });

  it("drops the first beginning even if the second is cut off", async () => {
    const start = { type: "message_start", message: { id: "m", usage: {} } };
    const call = { type: "tool_use", id: "c1", name: "run", input: {} };
    const { message, error } = await play("anthropic-messages", [
      start,
      { type: "content_block_start", index: 0, content_block: call },
      {
        type: "content_block_delta",
        index: 0,
        delta: { type: "input_json_delta", partial_json: "{" },
      },
      start,
    ]);
    expect(error?.isRetryable).toBe(true);
    expect(message.content).toEqual([]);
  });
});
