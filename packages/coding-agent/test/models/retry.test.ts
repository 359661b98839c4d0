import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createStream, type StreamFunction } from "@tau-agent/ai";
import {
  overloaded,
  rateLimited,
  scriptedModel,
  scriptedProvider,
  text,
  toolCall,
  turn,
} from "@tau-agent/ai/testing";
import { buildSessionContext } from "@tau-agent/sessions/log";
import { describe, expect, it } from "vitest";
import type { OAuthRefresh } from "../../../models/src/auth/store.ts";
import {
  createTestSession,
  eventOf,
  keyless,
  placesIn,
  temporaryFolder,
} from "../../src/create/__fixtures__/test-session.ts";

async function failing(times: number, fault = overloaded()) {
  const test = await createTestSession(({ index }) =>
    index < times ? turn("", { fault }) : "at last",
  );
  test.session.settings.override("retry.baseDelayMs", 2);
  return test;
}

const retries = (events: readonly { type: string }[]) =>
  events.filter(({ type }) => type.startsWith("auto_retry"));

describe("a request that failed temporarily", () => {
  it("is retried, and its failure leaves the conversation but not the file", async () => {
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

  it("ends with the error after the last attempt", async () => {
    const { session, events } = await failing(10);
    expect(await session.prompt("hello")).toMatchObject({ status: "error" });
    expect(retries(events)).toHaveLength(4);
    expect(retries(events).at(-1)).toMatchObject({ success: false, attempt: 3 });
    expect(session.messages.at(-1)).toMatchObject({ stopReason: "error" });
  });

  it("is retried after the delay that the vendor asks for, unless that is too long", async () => {
    const asked = await failing(1, rateLimited(0.05));
    await asked.session.prompt("hello");
    expect(retries(asked.events)[0]).toMatchObject({ delayMs: 50 });
    const sooner = await failing(1, rateLimited(0.02));
    sooner.session.settings.override("retry.baseDelayMs", 60_000);
    await sooner.session.prompt("hello");
    expect(retries(sooner.events)[0]).toMatchObject({ delayMs: 20 });
    const tooLong = await failing(1, rateLimited(3600));
    expect(await tooLong.session.prompt("hello")).toMatchObject({ status: "error" });
    expect(retries(tooLong.events)).toEqual([]);
    expect(tooLong.session.messages.at(-1)).toMatchObject({
      errorMessage: expect.stringMatching(/asks to wait 1 h, longer than .*\(1 min\)\.$/),
    });
  });

  it("stops waiting on cancel and on abort", async () => {
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

  it("is sent to another model at once if one is chosen during the delay", async () => {
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

  it("is not retried if retrying was cancelled during the attempt", async () => {
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

  it("looks the same as after a reload when its delay was cancelled", async () => {
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

  it("is not retried when retrying is off or the failure is permanent", async () => {
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

const refused = { kind: "status", status: 401, message: "token revoked" } as const;

/** A session whose vendor accepts only one of a login's tokens; `keys` are the tokens that it received. */
async function loggedIn(
  good: string,
  refresh?: OAuthRefresh,
  credential: object = { type: "oauth", access: "old", refresh: "r1", expires: Date.now() + 1e9 },
) {
  const places = placesIn(temporaryFolder());
  const authFile = join(places.agentDirectory ?? "", "auth.json");
  mkdirSync(join(authFile, ".."), { recursive: true });
  const store = (entry: object) => writeFileSync(authFile, JSON.stringify({ scripted: entry }));
  store(credential);
  const keys: unknown[] = [];
  const scenario = () => (keys.at(-1) === good ? "summary or reply" : turn("", { fault: refused }));
  const provider = scriptedProvider(scenario);
  const plain = createStream({ providers: { scripted: async () => provider } });
  const stream: StreamFunction = (model, context, options) => {
    keys.push(options.apiKey);
    return plain(model, context, options);
  };
  const login = refresh && {
    login: { refresh, keyOf: ({ access }: { access: string }) => access },
  };
  const { provider: id } = scriptedModel();
  const test = await createTestSession(scenario, {
    ...places,
    stream,
    providers: [{ ...keyless(id), isKeyless: false, ...login }],
  });
  return { ...test, keys, authFile, store };
}

describe("a login whose tokens are refused", () => {
  const renewed = (access: string) => async () => ({ access, expires: Date.now() + 1e9 });

  it("gets new tokens, and the request is repeated", async () => {
    const { session, events, keys, authFile } = await loggedIn("new", renewed("new"));
    expect(await session.prompt("hello")).toMatchObject({ status: "completed" });
    expect(keys).toEqual(["old", "new"]);
    expect(retries(events)).toMatchObject([
      {
        type: "auto_retry_start",
        attempt: 1,
        delayMs: 0,
        errorMessage: expect.stringContaining("token revoked"),
      },
      { type: "auto_retry_end", success: true, attempt: 1 },
    ]);
    expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(JSON.parse(readFileSync(authFile, "utf8"))).toMatchObject({
      scripted: { access: "new", refresh: "r1" },
    });
    await session.prompt("more");
    expect(keys).toEqual(["old", "new", "new"]);
  });

  it("is renewed once: a second refusal is final, and the next prompt may renew again", async () => {
    let count = 0;
    const { session, events, keys } = await loggedIn("never", async () => {
      count += 1;
      return { access: `new${count}`, expires: Date.now() + 1e9 };
    });
    expect(await session.prompt("hello")).toMatchObject({
      status: "error",
      error: expect.stringContaining("token revoked"),
    });
    expect(keys).toEqual(["old", "new1"]);
    expect(retries(events).at(-1)).toMatchObject({ success: false, attempt: 1 });
    await session.prompt("again");
    expect(keys).toEqual(["old", "new1", "new1", "new2"]);
  });

  it("is reported if it cannot be renewed", async () => {
    const { session, events, keys } = await loggedIn("new", async () => {
      throw new TypeError("invalid_grant");
    });
    expect(await session.prompt("hello")).toMatchObject({ status: "error" });
    expect(keys).toEqual(["old"]);
    expect(retries(events).at(-1)).toMatchObject({
      success: false,
      finalError: expect.stringMatching(
        /could not be renewed: invalid_grant\. Run tau auth login scripted/,
      ),
    });
  });

  it("uses tokens that another process has written", async () => {
    const { session, keys, store } = await loggedIn("theirs");
    await session.models.registry.keys.require("scripted");
    store({ type: "oauth", access: "theirs", refresh: "r2", expires: Date.now() + 1e9 });
    expect(await session.prompt("hello")).toMatchObject({ status: "completed" });
    expect(keys).toEqual(["theirs"]);
  });

  it("may be cancelled during its renewal", async () => {
    const test = await loggedIn("new", () => new Promise(() => {}));
    const prompt = test.session.prompt("hello");
    await eventOf(test, ({ type }) => type === "auto_retry_start");
    test.session.retry.cancel();
    expect(await prompt).toMatchObject({ status: "error" });
    expect(retries(test.events).at(-1)).toMatchObject({ finalError: "Retry cancelled" });
  });

  it("is renewed for a summary, too", async () => {
    let isOver = false;
    const test = await loggedIn("new", async () => {
      isOver = true;
      return { access: "new", expires: Date.now() + 1e9 };
    });
    const { navigation } = test.session;
    const { log } = test.parts.conversation;
    const first = log.append({
      type: "message",
      message: { role: "user", content: "a", timestamp: 1 },
    });
    log.append({
      type: "message",
      message: { role: "user", content: "b".repeat(100), timestamp: 1 },
    });
    await navigation.navigate(first.id, { summarize: true });
    expect(isOver).toBe(true);
    expect(test.keys.slice(-2)).toEqual(["old", "new"]);
    expect(retries(test.events)).toEqual([]);
  });

  it("unlike a key, is renewed", async () => {
    const key = { type: "api_key", key: "old" };
    const { session, events, keys } = await loggedIn("new", renewed("new"), key);
    expect(await session.prompt("hello")).toMatchObject({ status: "error" });
    expect(keys).toEqual(["old"]);
    expect(retries(events)).toEqual([]);
  });
});

describe("a retried attempt", () => {
  it("leaves the context together with its tool results, both live and from the file", async () => {
    const fault = {
      kind: "error_event",
      message: "busy",
      code: "overloaded_error",
      afterDeltas: 4,
    } as const;
    const call = toolCall("ls", { path: "." });
    const { session } = await createTestSession([turn([call, text("more")], { fault }), "done"]);
    session.settings.override("retry.baseDelayMs", 1);
    await session.prompt("go");
    const roles = session.messages.map(({ role }) => role);
    expect(roles).toEqual(["user", "assistant"]);
    const entries = session.log.tree.branch();
    // The file keeps the failed attempt.
    expect(entries.filter(({ type }) => type === "message").length).toBeGreaterThan(2);
    expect(buildSessionContext(entries).messages).toEqual(session.messages);
  });
});
