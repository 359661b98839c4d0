import { renewalTokens, type StreamFunction, type StreamOptions } from "@tau-agent/ai";
import type { AgentEvent } from "@tau-agent/rpc-protocol/events";
import type { AssistantMessage, Model, Usage } from "@tau-agent/rpc-protocol/messages";
import { beforeAll, expect, it } from "vitest";
import { CacheWarming, type WarmingClock } from "./cache-warming.ts";

const minute = 60_000;
const noCost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const used: Usage = { input: 0, output: 1, cacheRead: 40_000, cacheWrite: 5_000, cost: noCost };
const claude: Model = {
  ...{ id: "claude-opus-5", name: "Claude", provider: "anthropic", api: "anthropic-messages" },
  baseUrl: "https://api.anthropic.com",
  reasoning: true,
  input: ["text"],
  cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
  contextWindow: 200_000,
  maxTokens: 32_000,
};

function reply(usage: Usage, stopReason: AssistantMessage["stopReason"]): AssistantMessage {
  const { api, provider, id: model } = claude;
  return { role: "assistant", content: [], api, provider, model, usage, stopReason, timestamp: 0 };
}

class FakeClock implements WarmingClock {
  #now = 0;
  readonly #timers = new Set<{ readonly at: number; readonly call: () => void }>();

  now(): number {
    return this.#now;
  }

  after(delayMs: number, call: () => void): () => void {
    const timer = { at: this.#now + delayMs, call };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  get waiting(): number {
    return this.#timers.size;
  }

  /** Advances the time, and lets due requests begin and end. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= end);
      const [next] = due.sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = next.at;
      next.call();
      await settled();
    }
    this.#now = end;
  }
}

// Loads on-demand code in advance.
beforeAll(async () => void (await renewalTokens(claude, {})));

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

function setUp(given: Partial<ConstructorParameters<typeof CacheWarming>[0]> = {}) {
  const clock = new FakeClock();
  const renewals: StreamOptions[] = [];
  const noted: Usage[] = [];
  const held: { until: Promise<unknown> } = { until: Promise.resolve() };
  const stream: StreamFunction = async function* (_model, _context, options) {
    if (options.renewsCache !== true) return { message: reply(used, "toolUse") };
    renewals.push(options);
    const aborted = new Promise<void>((resolve) => {
      options.signal?.addEventListener("abort", () => resolve(), { once: true });
    });
    await Promise.race([held.until, aborted]);
    const isAborted = options.signal?.aborted === true;
    return { message: reply(used, isAborted ? "aborted" : "length") };
  };
  const warming = new CacheWarming({
    stream,
    isOn: () => true,
    maySpend: () => true,
    currentModel: () => claude,
    account: () => (usage) => noted.push(usage),
    clock,
    ...given,
  });
  const tell = (event: object): void => warming.note(event as AgentEvent);
  const controller = new AbortController();
  /** Requests a reply, and begins to run its tool call. */
  const call = async (options: StreamOptions = {}, model = claude, usage = used): Promise<void> => {
    const asked = { signal: controller.signal, ...options };
    await warming.stream(model, { messages: [] }, asked).next();
    tell({ type: "message_end", message: reply(usage, "toolUse") });
    tell({ type: "tool_execution_start", toolCallId: "c", toolName: "bash", args: {} });
  };
  const end = (): void => tell({ type: "turn_end", message: {}, toolResults: [] });
  return { clock, renewals, noted, held, warming, call, end, controller };
}

it("renews the cache shortly before it expires, up to twice for the calls of a reply", async () => {
  const { clock, renewals, noted, call, end } = setUp();
  await call({ thinkingLevel: "off", initiator: "user" });
  await clock.pass(4.5 * minute);
  expect(renewals).toHaveLength(0);
  await clock.pass(0.4 * minute);
  expect(renewals).toHaveLength(1);
  expect(renewals[0]).toMatchObject({
    renewsCache: true,
    initiator: "agent",
    thinkingLevel: "off",
  });
  await clock.pass(60 * minute);
  expect(renewals).toHaveLength(2);
  expect(noted).toEqual([used, used]);
  end();
  await call();
  await clock.pass(6 * minute);
  expect(renewals).toHaveLength(3);
});

it("waits almost an hour if caches live an hour", async () => {
  const { clock, renewals, call } = setUp();
  await call({ cacheRetention: "long" });
  await clock.pass(59 * minute);
  expect(renewals).toHaveLength(0);
  await clock.pass(minute);
  expect(renewals).toHaveLength(1);
});

it("counts from the start of the request, and does not renew an expired cache", async () => {
  const { clock, renewals, warming, call, end } = setUp();
  const slow = warming.stream(claude, { messages: [] }, {});
  await clock.pass(6 * minute);
  await slow.next();
  warming.note({ type: "message_end", message: reply(used, "toolUse") });
  warming.note({ type: "tool_execution_start", toolCallId: "c", toolName: "bash", args: {} });
  await clock.pass(30 * minute);
  expect(renewals).toHaveLength(0);
  end();
  await call();
  await clock.pass(5 * minute);
  expect(renewals).toHaveLength(1);
});

it("leaves no timer when the tools end, the run is aborted or the session ends", async () => {
  const ended = setUp();
  await ended.call();
  expect(ended.clock.waiting).toBe(1);
  ended.end();
  expect(ended.clock.waiting).toBe(0);

  const aborted = setUp();
  await aborted.call();
  aborted.controller.abort();
  expect(aborted.clock.waiting).toBe(0);

  const closed = setUp();
  await closed.call();
  closed.warming.close();
  expect(closed.clock.waiting).toBe(0);
});

it("lets an ongoing request finish when the tools end, and counts it", async () => {
  const { clock, renewals, noted, held, call, end } = setUp();
  const answer = Promise.withResolvers<void>();
  held.until = answer.promise;
  await call();
  await clock.pass(5 * minute);
  end();
  expect(renewals[0]?.signal?.aborted).toBe(false);
  answer.resolve();
  await settled();
  expect(noted).toEqual([used]);
  expect(clock.waiting).toBe(0);
});

it.each([
  ["an abort", ({ controller }: ReturnType<typeof setUp>) => controller.abort()],
  ["the end of the session", ({ warming }: ReturnType<typeof setUp>) => warming.close()],
])("stops a request at %s, and counts what it used", async (_, stop) => {
  const all = setUp();
  all.held.until = new Promise(() => undefined);
  await all.call();
  await all.clock.pass(5 * minute);
  stop(all);
  await settled();
  expect(all.renewals[0]?.signal?.aborted).toBe(true);
  expect(all.noted).toEqual([used]);
  await all.clock.pass(30 * minute);
  expect(all.renewals).toHaveLength(1);
});

const { cost } = claude;
it.each<[string, StreamOptions, Model, Usage]>([
  ["no cache is wanted", { cacheRetention: "none" }, claude, used],
  [
    "the vendor has kept nothing",
    {},
    claude,
    { ...used, input: 45_000, cacheRead: 0, cacheWrite: 0 },
  ],
  [
    "the vendor charges nothing for writing",
    {},
    { ...claude, cost: { ...cost, cacheWrite: 0 } },
    used,
  ],
  ["nobody knows the prices", {}, { ...claude, cost: noCost }, used],
  ["the reply would cost more", { thinkingLevel: "high" }, claude, { ...used, cacheRead: 5_000 }],
  ["the vendor promises no lifetime", {}, { ...claude, api: "openai-responses" }, used],
])("makes no request if %s", async (_, options, model, usage) => {
  const { clock, renewals, call } = setUp({ currentModel: () => model });
  await call(options, model, usage);
  await clock.pass(90 * minute);
  expect(renewals).toHaveLength(0);
});

it("makes no request if it is off, the budget is used up or the next model differs", async () => {
  const others = [
    setUp({ isOn: () => false }),
    setUp({ maySpend: () => false }),
    setUp({ currentModel: () => ({ ...claude, id: "claude-sonnet-5" }) }),
  ];
  for (const { clock, renewals, call } of others) {
    await call();
    await clock.pass(90 * minute);
    expect(renewals).toHaveLength(0);
  }
});

it("does not retry after a failure, and reports nothing", async () => {
  const { clock, call, renewals, noted, held } = setUp();
  held.until = Promise.reject(new Error("broken"));
  held.until.catch(() => undefined);
  await call();
  await clock.pass(30 * minute);
  expect(renewals).toHaveLength(1);
  expect(noted).toEqual([]);
});
