import { defineTool } from "@tau-agent/agent";
import { createStream } from "@tau-agent/ai";
import { type Scenario, startLoopbackServer, toolCall, turn } from "@tau-agent/ai/testing";
import { SettingsStore } from "@tau-agent/system";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { createTestSession, keyless } from "../create/__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "../create/options/session-options.ts";
import { recordSpans } from "../telemetry/__fixtures__/recorded-spans.ts";

const usage = { input: 3, output: 1, cacheRead: 40_000, cacheWrite: 1_000 };
const cost = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
/** The cost of one request. */
const each = (3 * 3 + 15 + 40_000 * 0.3 + 1_000 * 3.75) / 1e6;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] }));
afterEach(() => void vi.useRealTimers());

/** A session with a Claude model and a tool that runs until `end` is called. */
async function setUp(
  scenario: Scenario,
  options: Partial<CreateAgentSessionOptions> = {},
  api: "anthropic-messages" | "anthropic-vertex" | "bedrock-converse-stream" = "anthropic-messages",
) {
  const server = await startLoopbackServer({ scenario });
  onTestFinished(() => server.close());
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const slow = defineTool({
    name: "slow",
    label: "Slow",
    description: "Takes its time.",
    parameters: { type: "object" },
    execute: async (_input, { signal }) => {
      begun.resolve();
      const aborted = new Promise((_, reject) =>
        signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true }),
      );
      await Promise.race([ended.promise, aborted]);
      return { content: [{ type: "text", text: "at last" }] };
    },
  });
  const id = api === "bedrock-converse-stream" ? "anthropic.claude-opus-4-5" : "claude-opus-4-5";
  const model = server.model(api, { id, cost, reasoning: true, contextWindow: 200_000 });
  const test = await createTestSession([], {
    model,
    providers: [keyless("loopback")],
    stream: createStream(),
    customTools: [slow],
    permissions: { mode: "all" },
    ...options,
  });
  const bodies = () => server.requests.map(({ body }) => body as Record<string, unknown>);
  return { ...test, server, bodies, begun: begun.promise, end: ended.resolve };
}

const calls = turn(toolCall("slow", {}), { usage });
const dropped = turn("Nobody reads this", { usage });
const done = turn("Done.", { usage });

async function until(fits: () => boolean): Promise<void> {
  while (!fits()) await new Promise(setImmediate);
}

it("repeats the request while a tool runs, and counts its cost", async () => {
  const { session, bodies, events, written, begun, end, server } = await setUp(
    [calls, dropped, done],
    {
      thinkingLevel: "off",
    },
  );
  const prompt = session.prompt("Go");
  await begun;
  await vi.advanceTimersByTimeAsync(290_000);
  await until(() => session.stats.cacheWarming !== undefined);
  const eventsBefore = events.length;
  expect(session.stats.cacheWarming).toEqual({ requests: 1, costUsd: expect.closeTo(each, 8) });
  end();
  await prompt;
  const [first, renewal, next] = bodies();
  expect(renewal).toEqual({ ...first, max_tokens: 1 });
  expect(JSON.stringify(next)).not.toContain("Nobody reads this");
  expect(bodies()).toHaveLength(3);
  expect(session.stats).toMatchObject({
    cost: expect.closeTo(3 * each, 8),
    tokens: { cacheRead: 120_000 },
    assistantMessages: 2,
  });
  expect(session.budget.snapshot.totalTokens).toBe(session.stats.tokens.total);
  expect(events.slice(0, eventsBefore).at(-1)?.type).toBe("tool_execution_start");
  expect(written().filter(({ customType }) => customType === "tau:usage")).toHaveLength(1);
  expect(server.refusals).toEqual([]);
});

it.each([
  ["anthropic-messages", "low", (body: Record<string, unknown>) => body.max_tokens],
  ["anthropic-vertex", "off", (body: Record<string, unknown>) => body.max_tokens],
  [
    "bedrock-converse-stream",
    "low",
    (body: Record<string, unknown>) => Reflect.get(Object(body.inferenceConfig), "maxTokens"),
  ],
] as const)(
  "renews over %s with thinking %s in a form that the vendor accepts",
  async (api, thinkingLevel, limitOf) => {
    const { session, bodies, begun, end, server } = await setUp(
      [calls, dropped, done],
      { thinkingLevel, environment: vertexPlace },
      api,
    );
    const prompt = session.prompt("Go");
    await begun;
    await vi.advanceTimersByTimeAsync(290_000);
    await until(() => session.stats.cacheWarming !== undefined);
    end();
    await prompt;
    expect(limitOf(bodies()[1] ?? {})).toBe(thinkingLevel === "off" ? 1 : 2049);
    expect(server.refusals).toEqual([]);
  },
);

const vertexPlace = {
  PATH: process.env.PATH,
  GOOGLE_CLOUD_PROJECT: "p",
  GOOGLE_CLOUD_LOCATION: "l",
};

it("stops with an aborted run", async () => {
  const slowly = turn("Nobody waits for this", { usage, delayMs: 600_000 });
  const { session, bodies, begun } = await setUp([calls, slowly]);
  const prompt = session.prompt("Go");
  await begun;
  await vi.advanceTimersByTimeAsync(285_000);
  await until(() => bodies().length === 2);
  void session.abort();
  await vi.advanceTimersByTimeAsync(10_000);
  await prompt;
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(bodies()).toHaveLength(2);
});

it("spends only what the budget allows", async () => {
  const settings = SettingsStore.inMemory({ "task.budget.maxCostUsd": 1.5 * each });
  const { session, bodies, begun } = await setUp([calls, dropped, done], { settings });
  const prompt = session.prompt("Go");
  await begun;
  await vi.advanceTimersByTimeAsync(290_000);
  await until(() => session.budget.snapshot.status === "exceeded");
  await vi.advanceTimersByTimeAsync(10_000);
  const { status } = await prompt;
  expect(status).toBe("aborted");
  expect(bodies()).toHaveLength(2);
});

it("records a span that marks the request as a renewal", async () => {
  const { spans } = recordSpans();
  const { session, begun, end } = await setUp([calls, dropped, done], {
    telemetry: { enabled: true },
  });
  const prompt = session.prompt("Go");
  await begun;
  await vi.advanceTimersByTimeAsync(290_000);
  await until(() => session.stats.cacheWarming !== undefined);
  end();
  await prompt;
  const warming = spans().filter(({ attributes }) => attributes["tau.cache_warming"] === true);
  expect(warming).toMatchObject([
    {
      name: "chat claude-opus-4-5",
      attributes: { "gen_ai.usage.cache_read.input_tokens": 40_000 },
    },
  ]);
});

it("does nothing if the setting turns it off", async () => {
  const settings = SettingsStore.inMemory({ cacheWarming: "off" });
  const { session, bodies, begun, end } = await setUp([calls, done], { settings });
  const prompt = session.prompt("Go");
  await begun;
  await vi.advanceTimersByTimeAsync(3_600_000);
  end();
  await prompt;
  expect(bodies()).toHaveLength(2);
  expect(session.stats).not.toHaveProperty("cacheWarming");
});

it("counts subagents' renewals for the session, and continues its own", async () => {
  const task = turn(toolCall("task", { task: "<child>", agent: "task" }), { usage });
  const scenario: Scenario = ({ messages, toolResults }) => {
    if (toolResults.length > 0) return done;
    const isChild = JSON.stringify(messages).includes("<child>");
    return isChild ? calls : task;
  };
  const { session, bodies, begun, end } = await setUp(scenario, { thinkingLevel: "off" });
  const prompt = session.prompt("Go");
  await begun;
  await vi.advanceTimersByTimeAsync(290_000);
  await until(() => bodies().length === 4 && session.stats.cacheWarming !== undefined);
  end();
  await prompt;
  expect(session.stats).toMatchObject({
    cost: expect.closeTo(6 * each, 8),
    cacheWarming: { requests: 1, costUsd: expect.closeTo(each, 8) },
    subagents: { count: 1, cost: expect.closeTo(3 * each, 8) },
  });
  expect(session.budget.snapshot.totalTokens).toBe(session.stats.tokens.total);
});
