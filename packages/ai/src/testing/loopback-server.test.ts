import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { takeRefusals } from "../../test/no-refusals.ts";
import type { Context, StreamOptions } from "../provider.ts";
import { stream } from "../stream.ts";
import { type Fault, overloaded, rateLimited } from "./fault.ts";
import { type LoopbackApi, loopbackApis } from "./loopback-api.ts";
import { startLoopbackServer } from "./loopback-server.ts";
import { text, thinking, toolCall, turn } from "./scenario.ts";
import type { ScenarioRequest } from "./scenario-request.ts";

type Server = Awaited<ReturnType<typeof startLoopbackServer>>;

const tools = [
  {
    name: "read",
    description: "Reads a file",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  },
];

const start = (content: string): Context => ({
  systemPrompt: "Be brief.",
  messages: [{ role: "user", content, timestamp: 1 }],
  tools,
});

async function reply(
  server: Server,
  api: LoopbackApi,
  context: Context,
  options: StreamOptions = {},
) {
  const events: string[] = [];
  const replying = stream(server.model(api), context, { apiKey: "sk-test", ...options });
  for (;;) {
    const next = await replying.next();
    if (next.done) return { events, ...next.value };
    // One format sends a call's arguments whole, the others in pieces.
    if (next.value.type !== events.at(-1)) events.push(next.value.type);
  }
}

/** A tool turn: the model thinks, writes text, calls a tool, and answers from its result. */
async function toolTurn(api: LoopbackApi) {
  const seen: ScenarioRequest[] = [];
  await using server = await startLoopbackServer({
    scenario: (request) => {
      seen.push(request);
      const [result] = request.toolResults;
      if (result !== undefined) return `It says: ${result.text}`;
      return turn([
        thinking("I should look.", { signature: "c2lnbmF0dXJl" }),
        text("Let me read that file, it is surely interesting."),
        toolCall("read", { path: "src/ä.ts" }),
      ]);
    },
  });
  const first = await reply(server, api, start("What is in it?"), { thinkingLevel: "low" });
  const call = first.message.content.find((block) => block.type === "toolCall");
  const context: Context = {
    ...start("What is in it?"),
    messages: [
      ...start("What is in it?").messages,
      first.message,
      {
        role: "toolResult",
        toolCallId: call?.id ?? "",
        toolName: "read",
        content: [{ type: "text", text: "42" }],
        isError: false,
        timestamp: 3,
      },
    ],
  };
  // The end of a body is read in the background.
  await sleep(20);
  const second = await reply(server, api, context, { thinkingLevel: "low" });
  return { first, second, seen, call, connections: server.connectionCount };
}

describe("the thinking of a bound model", () => {
  it("is signed, with a separate signature for each block", async () => {
    const scenario = [turn([thinking("Hm."), "Hi"]), turn([thinking("Hm."), "Hi"])];
    await using server = await startLoopbackServer({ scenario });
    const model = server.model("anthropic-messages", { id: "claude-opus-5-5" });
    const signatures: unknown[] = [];
    for (let count = 0; count < 2; count++) {
      for await (const event of stream(model, start("x"), { apiKey: "k" })) {
        const [block] = event.type === "done" ? event.message.content : [];
        if (block?.type === "thinking") signatures.push(block.thinkingSignature);
      }
    }
    expect(signatures).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)]);
    expect(new Set(signatures).size).toBe(2);
  });
});

describe("thinking that is sent back after a different prefix", () => {
  it("is refused for a bound model unless the request asks to drop it", async () => {
    const scenario = [turn([thinking("Hm."), "Hi"]), "Again", "Again"];
    await using server = await startLoopbackServer({ scenario });
    const model = server.model("anthropic-messages", { id: "claude-opus-5-5" });
    const reply = stream(model, start("x"), { apiKey: "k" });
    let made: Context["messages"][number] | undefined;
    for await (const event of reply) if (event.type === "done") made = event.message;
    if (made === undefined) throw new RangeError("no reply");
    const messages = [...start("x").messages, made, ...start("y").messages];
    const bare = async (blockBinding: object) => {
      const body = {
        model: model.id,
        max_tokens: 2000,
        stream: true,
        system: "Something else",
        thinking: { type: "adaptive", ...blockBinding },
        messages: messages.map(({ role, content }) => ({
          role,
          content:
            typeof content === "string"
              ? content
              : content.map((block) =>
                  block.type === "thinking"
                    ? { ...block, thinkingSignature: undefined, signature: block.thinkingSignature }
                    : block,
                ),
        })),
      };
      const headers = { "anthropic-beta": "thinking-binding-controls-2026-08-01" };
      const url = `${server.url}/v1/messages`;
      return fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    };
    const refused = await bare({});
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining("bound to a different conversation"),
    ]);
    expect(takeRefusals()).toMatchObject([{ rule: "bound-thinking" }]);
    const drop = { block_binding: { prefix_mismatch_behavior: "drop_block" } };
    expect((await bare(drop)).status).toBe(200);
  });
});

describe.each(loopbackApis)("startLoopbackServer in %s", (api) => {
  it("refuses what the vendor refuses unless told not to", async () => {
    const nobody = [{ role: "nobody", content: "x", parts: [{ text: "x" }] }];
    const onPayload = (payload: unknown) =>
      Object.fromEntries(
        Object.entries(payload as object).map(([name, value]) =>
          ["messages", "input", "contents"].includes(name) ? [name, nobody] : [name, value],
        ),
      );
    const broken = { onPayload };
    await using server = await startLoopbackServer({ scenario: ["Hi", "Hi"] });
    const { error } = await reply(server, api, start("x"), broken);
    const [refusal, ...more] = server.refusals;
    expect(refusal).toMatchObject({ api, rule: expect.stringMatching(/^(?:roles|content)$/) });
    expect(error).toMatchObject({ code: "invalid_request", status: 400 });
    expect(error?.message).toContain(refusal?.message);
    expect([more, takeRefusals()]).toEqual([[], [refusal]]);
    // The turn is still available for a request that the vendor accepts.
    expect((await reply(server, api, start("x"))).error).toBeUndefined();

    await using lax = await startLoopbackServer({ scenario: ["Hi"], rules: false });
    expect((await reply(lax, api, start("x"), broken)).error).toBeUndefined();
    expect(lax.refusals).toEqual([]);
  });

  it("handles a whole tool turn with the same events as every other format", async () => {
    const { first, second, call } = await toolTurn(api);
    expect(first.error).toBeUndefined();
    expect(first.events).toEqual([
      "start",
      "thinking_start",
      "thinking_delta",
      "thinking_end",
      "text_start",
      "text_delta",
      "text_end",
      "toolcall_start",
      "toolcall_delta",
      "toolcall_end",
      "done",
    ]);
    expect(first.message.stopReason).toBe("toolUse");
    expect(first.message.content).toMatchObject([
      { type: "thinking", thinking: "I should look." },
      { type: "text", text: "Let me read that file, it is surely interesting." },
      { type: "toolCall", name: "read", arguments: { path: "src/ä.ts" } },
    ]);
    expect(call?.id).toBeTruthy();
    expect(second.events).toEqual(["start", "text_start", "text_delta", "text_end", "done"]);
    expect(second.message.content).toMatchObject([{ type: "text", text: "It says: 42" }]);
    expect(second.message.usage.input).toBeGreaterThan(0);
    expect(second.message.usage.output).toBeGreaterThan(0);
  });

  it("shows a scenario the same view of the conversation in every format", async () => {
    const { seen, connections } = await toolTurn(api);
    const [first, second] = seen;
    expect(first?.systemPrompt).toBe("Be brief.");
    expect(first?.lastUserText).toBe("What is in it?");
    expect(first?.model).toBe("loopback");
    expect(first?.tools).toMatchObject([
      { name: "read", description: "Reads a file", parameters: { required: ["path"] } },
    ]);
    expect(second?.messages.map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "toolResult",
    ]);
    expect(second?.toolResults).toMatchObject([{ toolName: "read", text: "42", isError: false }]);
    const replayed = second?.messages[1];
    expect(replayed?.role === "assistant" && replayed.content.at(-1)).toMatchObject({
      type: "toolCall",
      name: "read",
      arguments: { path: "src/ä.ts" },
    });
    expect(connections).toBe(1);
  });

  const faults: readonly [string, Fault, string][] = [
    ["a 429", rateLimited(3), "rate_limited"],
    ["a 529", overloaded(), "overloaded"],
    ["a 401", { kind: "status", status: 401, message: "Invalid key" }, "auth"],
    ["a conversation that is too long", { kind: "overflow" }, "context_overflow"],
    ["a reset before the headers", { kind: "reset", when: "before_headers" }, "network"],
    ["a reset after the headers", { kind: "reset", when: "after_headers" }, "network"],
    ["a reset amid the stream", { kind: "reset", when: "mid_stream", afterDeltas: 2 }, "network"],
    ["a reply without its end", { kind: "truncate", afterDeltas: 2 }, "network"],
    [
      "a redirect to another origin",
      { kind: "redirect", location: "http://127.0.0.2:9/" },
      "invalid_request",
    ],
    ["an error event", { kind: "error_event", message: "Overloaded" }, "overloaded"],
  ];

  it.each(faults)("converts %s to its error and keeps the turn", async (_, fault, code) => {
    const scenario = [turn("a reply of several pieces", { chunkSize: 4 })];
    await using server = await startLoopbackServer({ scenario, faults: [fault] });
    const failed = await reply(server, api, start("go"));
    expect(failed.error).toMatchObject({ code });
    expect(failed.events.at(-1)).toBe("error");
    const { message } = await reply(server, api, start("go"));
    expect(message.content).toMatchObject([{ text: "a reply of several pieces" }]);
  });

  it("reports the retry delay of a 429", async () => {
    await using server = await startLoopbackServer({ scenario: ["x"], faults: [rateLimited(3)] });
    const { error } = await reply(server, api, start("go"));
    expect(error?.retryAfterMs).toBe(3000);
  });

  it("fails on garbage instead of hanging", async () => {
    const faults: Fault[] = [{ kind: "garbage", afterDeltas: 1 }];
    await using server = await startLoopbackServer({ scenario: ["some text"], faults });
    expect((await reply(server, api, start("go"))).message.stopReason).toBe("error");
  });

  it("stays silent in a stall until the client gives up", async () => {
    const scenario = [turn("several pieces of text", { chunkSize: 4 })];
    await using server = await startLoopbackServer({ scenario, faults: [{ kind: "stall" }] });
    const { error, message } = await reply(server, api, start("go"), { idleTimeoutMs: 60 });
    expect(error?.code).toBe("timeout");
    expect(message.content).toMatchObject([{ text: "seve" }]);
  });

  it("reports a truncated reply as length", async () => {
    const scenario = [turn("cut", { stopReason: "length" })];
    await using server = await startLoopbackServer({ scenario });
    expect((await reply(server, api, start("go"))).message.stopReason).toBe("length");
  });

  it("reports the token counts that a turn specifies", async () => {
    const usage = { input: 100, output: 20, cacheRead: 50 };
    await using server = await startLoopbackServer({ scenario: [turn("x", { usage })] });
    const { message } = await reply(server, api, start("go"));
    expect(message.usage).toMatchObject({
      input: 100,
      output: 20,
      cacheRead: 50,
      totalTokens: 170,
    });
  });

  it("streams many deltas in linear time", async () => {
    const scenario = [turn(text("x".repeat(40_000), { chunkSize: 10 }))];
    await using server = await startLoopbackServer({ scenario, records: false });
    const replying = stream(server.model(api), start("go"), { apiKey: "k" });
    let deltas = 0;
    for await (const event of replying) if (event.type === "text_delta") deltas++;
    expect(deltas).toBe(4000);
  });
});

describe("startLoopbackServer", () => {
  it("records bodies and headers, lists models, and refuses unknown paths", async () => {
    await using server = await startLoopbackServer({ scenario: ["hi"], models: ["a", "b"] });
    await reply(server, "openai-completions", start("go"));
    expect(server.requests[0]).toMatchObject({
      api: "openai-completions",
      path: "/v1/chat/completions",
    });
    expect(server.requests[0]?.headers.authorization).toBe("Bearer sk-test");
    const listed = await (await fetch(`${server.url}/v1/models`)).json();
    expect(listed).toMatchObject({ data: [{ id: "a" }, { id: "b" }] });
    expect((await fetch(`${server.url}/elsewhere`)).status).toBe(404);
  });

  it("answers an excess request with a clear error", async () => {
    await using server = await startLoopbackServer({ scenario: [] });
    const { error } = await reply(server, "openai-completions", start("go"));
    expect(error?.code).toBe("invalid_request");
    expect(error?.message).toContain("The scenario has no turn for request 1");
  });

  it("sends each delta separately when a turn is paced", async () => {
    const scenario = [turn("abcdef", { chunkSize: 2, delayMs: 15 })];
    await using server = await startLoopbackServer({ scenario });
    const arrivals: number[] = [];
    const replying = stream(server.model("openai-completions"), start("go"), { apiKey: "k" });
    for await (const event of replying) {
      if (event.type === "text_delta") arrivals.push(performance.now());
    }
    expect(arrivals).toHaveLength(3);
    expect((arrivals[2] ?? 0) - (arrivals[0] ?? 0)).toBeGreaterThan(20);
  });

  it("serves a local model without a key", async () => {
    await using server = await startLoopbackServer({ scenario: ["hi"] });
    const { error } = await reply(server, "openai-completions", start("go"), { apiKey: undefined });
    expect(error).toBeUndefined();
    expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
  });

  it("simulates the fault of a turn once", async () => {
    const scenario = [turn("x", { fault: overloaded(503) }), "fine"];
    await using server = await startLoopbackServer({ scenario });
    expect((await reply(server, "openai-responses", start("go"))).error?.code).toBe("overloaded");
    const { message } = await reply(server, "openai-responses", start("go"));
    expect(message.content).toMatchObject([{ text: "fine" }]);
  });
});
