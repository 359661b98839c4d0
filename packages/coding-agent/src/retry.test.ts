import { overloaded, rateLimited, turn } from "@tau-agent/ai/testing";
import { describe, expect, it } from "vitest";
import { createTestSession, eventOf } from "./__fixtures__/test-session.ts";
import { buildSessionContext } from "./session/session-context.ts";

async function failing(times: number, fault = overloaded()) {
  const test = await createTestSession(({ index }) =>
    index < times ? turn("", { fault }) : "at last",
  );
  test.session.settings.override("retry.baseDelayMs", 2);
  return test;
}

const retries = (events: readonly { type: string }[]) =>
  events.filter(({ type }) => type.startsWith("auto_retry"));

describe("a request that failed in passing", () => {
  it("is tried again, and its failure leaves the conversation but not the file", async () => {
    const { session, events, written } = await failing(2);
    expect(await session.prompt("hello")).toMatchObject({ status: "completed" });
    expect(retries(events)).toMatchObject([
      { type: "auto_retry_start", attempt: 1, maxAttempts: 3, delayMs: 2 },
      { type: "auto_retry_start", attempt: 2, maxAttempts: 3, delayMs: 4 },
      { type: "auto_retry_end", success: true, attempt: 2 },
    ]);
    expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    const stops = written().flatMap((entry) =>
      entry.message?.role === "assistant" ? entry.message.stopReason : [],
    );
    expect(stops).toEqual(["error", "error", "stop"]);
    expect(events.filter(({ type }) => type === "agent_settled")).toHaveLength(1);
    expect(events.filter(({ type }) => type === "agent_end")).toMatchObject([
      { willRetry: true },
      { willRetry: true },
      { willRetry: false },
    ]);
  });

  it("is given up after the last attempt, with the error", async () => {
    const { session, events } = await failing(10);
    expect(await session.prompt("hello")).toMatchObject({ status: "error" });
    expect(retries(events)).toHaveLength(4);
    expect(retries(events).at(-1)).toMatchObject({ success: false, attempt: 3 });
    expect(session.messages.at(-1)).toMatchObject({ stopReason: "error" });
  });

  it("waits as long as the vendor asks, and not at all when that is too long", async () => {
    const asked = await failing(1, rateLimited(0.05));
    await asked.session.prompt("hello");
    expect(retries(asked.events)[0]).toMatchObject({ delayMs: 50 });
    const tooLong = await failing(1, rateLimited(3600));
    expect(await tooLong.session.prompt("hello")).toMatchObject({ status: "error" });
    expect(retries(tooLong.events)).toEqual([]);
  });

  it("ends its wait on cancel, and on abort", async () => {
    const cancelled = await failing(10);
    cancelled.session.settings.override("retry.baseDelayMs", 60_000);
    const first = cancelled.session.prompt("hello");
    await eventOf(cancelled, ({ type }) => type === "auto_retry_start");
    cancelled.session.retry.cancel();
    expect(await first).toMatchObject({ status: "error" });
    expect(retries(cancelled.events).at(-1)).toMatchObject({
      success: false,
      finalError: "Retry cancelled",
    });
    const aborted = await failing(10);
    aborted.session.settings.override("retry.baseDelayMs", 60_000);
    const second = aborted.session.prompt("hello");
    await eventOf(aborted, ({ type }) => type === "auto_retry_start");
    await aborted.session.abort();
    expect(await second).toMatchObject({ status: "aborted" });
  });

  it("is asked of another model at once when that is chosen during the wait", async () => {
    const test = await failing(1);
    const { session, events } = test;
    session.settings.override("retry.baseDelayMs", 60_000);
    const running = session.prompt("hello");
    await eventOf(test, ({ type }) => type === "auto_retry_start");
    const { model } = session.models;
    if (model !== undefined) session.models.use({ ...model, id: "other" });
    expect(await running).toMatchObject({ status: "completed" });
    expect(retries(events).at(-1)).toMatchObject({ success: true, attempt: 1 });
    expect(session.messages.at(-1)).toMatchObject({ model: "other" });
  });

  it("is not tried again after an attempt during which retrying was called off", async () => {
    const test = await failing(10);
    const { session, events } = test;
    const running = session.prompt("hello");
    const turns = () => events.filter(({ type }) => type === "turn_start");
    await eventOf(test, ({ type }) => type === "turn_start" && turns().length === 2);
    session.retry.cancel();
    expect(await running).toMatchObject({ status: "error" });
    expect(retries(events)).toMatchObject([
      { type: "auto_retry_start", attempt: 1 },
      { type: "auto_retry_end", success: false, attempt: 1 },
    ]);
    events.length = 0;
    session.settings.override("retry.maxRetries", 1);
    await session.prompt("again");
    expect(retries(events)).toMatchObject([{ attempt: 1 }, { success: false }]);
  });

  it("says the same as after a reload when its wait was ended", async () => {
    const test = await failing(1, rateLimited(30));
    const { session } = test;
    const running = session.prompt("hello");
    await eventOf(test, ({ type }) => type === "auto_retry_start");
    await session.abort();
    await running;
    const stored = buildSessionContext(session.log.tree.branch()).messages;
    expect(session.messages).toEqual(stored);
    expect(stored.at(-1)).toMatchObject({ stopReason: "error" });
  });

  it("is final when retrying is switched off, or the failure will not pass", async () => {
    const off = await failing(1);
    off.session.settings.override("retry.enabled", false);
    expect(await off.session.prompt("hello")).toMatchObject({ status: "error" });
    expect(retries(off.events)).toEqual([]);
    const quota = await failing(1, {
      kind: "status",
      status: 429,
      message: "insufficient_quota: You exceeded your current quota",
    });
    expect(await quota.session.prompt("hello")).toMatchObject({ status: "error" });
    expect(retries(quota.events)).toEqual([]);
  });
});
