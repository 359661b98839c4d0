import { toolCall, turn } from "@tau-agent/ai/testing";
import { SettingsStore } from "@tau-agent/system";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  createTestSession,
  eventOf,
  isType,
  unpaired,
  userTexts,
} from "../create/__fixtures__/test-session.ts";
import { TroubledStore } from "../create/__fixtures__/troubled-store.ts";

const projectKey = "project";
const id = "shared";

function fast(settings = {}) {
  return SettingsStore.inMemory({
    "session.storeTimeoutMs": 400,
    "session.leaseMs": 200,
    ...settings,
  } as never);
}

function open(
  scenario: Parameters<typeof createTestSession>[0],
  store: TroubledStore,
  more: Parameters<typeof createTestSession>[1] = {},
) {
  return createTestSession(scenario, { store, projectKey, session: { kind: "id", id }, ...more });
}

const stored = async (store: TroubledStore, sessionId = id) =>
  (await store.load({ projectKey, sessionId })) ?? [];

test("stores every message before it is announced", async () => {
  const store = new TroubledStore();
  const { session } = await open([turn([toolCall("bash", { command: "echo hi" })]), "done"], store);
  const missing: unknown[] = [];
  session.subscribe(async (event) => {
    if (event.type !== "message_end" && event.type !== "tool_execution_start") return;
    const lines = await stored(store);
    const text = JSON.stringify(lines);
    const needle =
      event.type === "message_end" ? JSON.stringify(event.message) : `"id":"${event.toolCallId}"`;
    if (!text.includes(needle)) missing.push(event);
  });
  expect(session.state.sessionFile).toBeUndefined();
  expect(await session.prompt("go")).toMatchObject({ status: "completed", text: "done" });
  expect(missing).toEqual([]);
  expect((await stored(store))[0]).toMatchObject({ type: "session", id });
});

test("delays events and tools for a slow store, and says so", async () => {
  const store = new TroubledStore();
  const test = await open([turn([toolCall("bash", { command: "touch ran" })]), "done"], store, {
    settings: fast({ "session.storeTimeoutMs": 20_000 }),
  });
  store.hold();
  const { result } = await test.session.submit("go");
  await eventOf(test, isType("session_store_status"));
  expect(test.events.filter(isType("message_start"))).toEqual([]);
  expect(test.events.filter(isType("session_store_status"))).toMatchObject([{ status: "waiting" }]);
  store.letGo();
  expect(await result).toMatchObject({ status: "completed" });
  const statuses = test.events.filter(isType("session_store_status"));
  expect(statuses).toMatchObject([{ status: "waiting" }, { status: "ok" }]);
});

test.each([
  ["forward", 86_400_000],
  ["back", -86_400_000],
])("does not fail a pending write because the clock is set %s", async (_, byMs) => {
  const store = new TroubledStore();
  const { session } = await open(["one"], store, {
    settings: fast({ "session.storeTimeoutMs": 20_000 }),
  });
  store.fail(new Error("connection reset"));
  const { result } = await session.submit("go");
  await expect.poll(() => store.attempts, { interval: 5 }).toBe(1);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + byMs });
  onTestFinished(() => void vi.useRealTimers());
  await expect.poll(() => store.attempts, { interval: 5 }).toBeGreaterThan(1);
  store.fail();
  expect(await result).toMatchObject({ status: "completed" });
});

test("fails a prompt after the time limit, and the next one continues without what was not stored", async () => {
  const store = new TroubledStore();
  const { session, events } = await open(["one", "two", "three"], store, { settings: fast() });
  await session.prompt("first");
  const before = await stored(store);
  store.hold();
  const failed = await session.prompt("lost", { id: "2" });
  expect(failed).toMatchObject({ id: "2", status: "error", code: "session_write_failed" });
  expect(failed.error).toContain("400 ms");
  expect(events.find(isType("error"))).toMatchObject({ code: "session_write_failed" });
  expect(userTexts(session.messages)).toEqual(["first"]);
  const announced = events.filter(isType("message_start"));
  expect(JSON.stringify(announced)).not.toContain("lost");
  // A late write has an old token.
  const next = session.prompt("second");
  await new Promise((resolve) => setTimeout(resolve, 50));
  store.letGo();
  expect(await next).toMatchObject({ status: "completed" });
  expect(userTexts(session.messages)).toEqual(["first", "second"]);
  const after = await stored(store);
  expect(after.slice(0, before.length)).toEqual(before);
  expect(JSON.stringify(after)).not.toContain("lost");
  expect(new Set(store.tokens).size).toBe(2);
});

test("repeats a failing call until it succeeds", async () => {
  const store = new TroubledStore();
  const { session, events } = await open(["one"], store, {
    settings: fast({ "session.storeTimeoutMs": 20_000 }),
  });
  store.fail(new Error("connection reset"));
  const { result } = await session.submit("go");
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(events.filter(isType("message_end"))).toEqual([]);
  store.fail();
  expect(await result).toMatchObject({ status: "completed" });
});

test("ends the run when its lease is lost, and refuses later prompts", async () => {
  const store = new TroubledStore();
  const session = await open(["one", "two"], store, { settings: fast() });
  await session.session.prompt("first");
  const mine = store.lease;
  if (mine === undefined) throw new Error("there is no lease");
  // As if this host had slept past its lease, and another had taken the session over.
  await store.release(mine);
  const theirs = await store.acquire(mine.key, 60_000);
  await eventOf(session, isType("session_lost"));
  await expect(session.session.prompt("second")).rejects.toMatchObject({ code: "session_lost" });
  expect(userTexts(session.session.messages)).toEqual(["first"]);
  expect(session.events.filter(isType("session_lost"))).toMatchObject([{ reason: "lease_lost" }]);
  await store.append(theirs.key, [{ type: "custom", id: "x" }], theirs);
});

test("fails a prompt when its lease is lost in the middle", async () => {
  const store = new TroubledStore();
  const test = await open(["one", "two"], store, { settings: fast({ "session.leaseMs": 60_000 }) });
  await test.session.prompt("first");
  const mine = store.lease;
  if (mine === undefined) throw new Error("there is no lease");
  await store.release(mine);
  await store.acquire(mine.key, 60_000);
  const result = await test.session.prompt("second");
  expect(result).toMatchObject({ status: "error", code: "session_lost" });
  expect(test.events.filter(isType("session_lost"))).toHaveLength(1);
  expect(JSON.stringify(test.events.filter(isType("message_start")))).not.toContain("second");
});

test("refuses to open a session that another host writes", async () => {
  const store = new TroubledStore();
  const { session } = await open(["one"], store);
  await session.prompt("first");
  await expect(open(["x"], store)).rejects.toMatchObject({ code: "session_locked" });
  await session.dispose();
  const again = await open(["two"], store);
  expect(userTexts(again.session.messages)).toEqual(["first"]);
  expect(await again.session.prompt("second")).toMatchObject({ text: "two" });
  expect(again.session.state.sessionId).toBe(id);
});

test("answers a call that was running when its host died as interrupted", async () => {
  const store = new TroubledStore();
  const dying = await open([turn([toolCall("bash", { command: "sleep 630" })])], store);
  void dying.session.submit("go");
  await eventOf(dying, isType("tool_execution_start"));
  // The host dies without a message.
  const mine = store.lease;
  if (mine === undefined) throw new Error("there is no lease");
  await store.release(mine);
  const { session } = await open(["done"], store);
  expect(await session.prompt("and now?")).toMatchObject({ text: "done" });
  expect(unpaired(session.messages)).toEqual([]);
  expect(JSON.stringify(await stored(store))).toContain('"interrupted":true');
});

test("works with ids for new, fork, switch, list and delete", async () => {
  const store = new TroubledStore();
  const { session } = await open(["one", "two", "three", "four"], store);
  await session.prompt("first");
  await session.prompt("second");
  const [, message] = session.navigation.forkMessages();
  expect(await session.navigation.fork(message?.entryId ?? "")).toMatchObject({ text: "second" });
  await session.stored;
  const forked = session.state.sessionId;
  expect(forked).not.toBe(id);
  expect((await stored(store, forked))[0]).toMatchObject({ id: forked, parentSession: id });
  expect(await session.prompt("other")).toMatchObject({ status: "completed" });
  expect((await session.navigation.list()).map(({ path }) => path).sort()).toEqual(
    [forked, id].sort(),
  );
  await session.navigation.switchSession(id);
  expect(userTexts(session.messages)).toEqual(["first", "second"]);
  await session.navigation.delete(forked);
  expect(await store.load({ projectKey, sessionId: forked })).toBeNull();
  await expect(session.navigation.switchSession(forked)).rejects.toMatchObject({
    code: "session_not_found",
  });
  await session.newSession();
  expect(await session.prompt("new")).toMatchObject({ status: "completed" });
  expect(await session.navigation.list()).toHaveLength(2);
});

test("refuses to start with a store that cannot be read", async () => {
  const store = new TroubledStore();
  store.load = async () => {
    throw new Error("no route to host");
  };
  await expect(open([], store)).rejects.toMatchObject({ code: "session_write_failed" });
});

test("leaves nothing of an unused session in the store", async () => {
  const store = new TroubledStore();
  const { session } = await open([], store, { session: { kind: "new" } });
  session.setName("unused");
  onTestFinished(() => session.dispose());
  expect(await store.list(projectKey)).toEqual([]);
});

test.each([0, -1, 1.5, Number.NaN, 2 ** 31])(
  "refuses a lease of %s ms, naming the option",
  async (leaseMs) => {
    await expect(open(["one"], new TroubledStore(), { leaseMs } as never)).rejects.toMatchObject({
      code: "invalid_option",
      message: expect.stringContaining("leaseMs"),
    });
  },
);
