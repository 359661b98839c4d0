import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toolCall, turn } from "@tau-agent/ai/testing";
import { createRedisStore } from "@tau-agent/store-redis";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { RedisServer, redisIsMissing } from "../../../../packages/store-redis/test/redis-server.ts";
import { describeWith } from "../../../../scripts/testing/describe-with.ts";
import { makePlace, type Place, type PlaceSetup } from "../support/place.ts";
import { startHost } from "../support/start-host.ts";

const words = ["--session-id", "shared", "--project-key", "project"];
const key = { projectKey: "project", sessionId: "shared" };

/** A place in which several hosts run one after another. */
function keptPlace(setup: PlaceSetup, settings: object = {}): Place {
  const place = makePlace(setup);
  onTestFinished(place.remove);
  const agent = join(place.folder, "agent");
  mkdirSync(agent, { recursive: true });
  writeFileSync(join(agent, "settings.json"), JSON.stringify(settings));
  return { ...place, remove: () => {} };
}

function hostOf(
  place: Place,
  more: readonly string[],
  environment: Readonly<Record<string, string>> = {},
) {
  const own = {
    ...place,
    arguments: [...place.arguments, ...more],
    variables: { ...place.variables, ...environment },
  };
  return startHost({}, { place: own });
}

type Host = ReturnType<typeof hostOf>;

async function say(host: Host, message: string) {
  host.send({ type: "prompt", message });
  return host.until({ "...": true, type: "prompt_result" });
}

async function userTexts(host: Host): Promise<unknown[]> {
  host.send({ type: "get_messages" });
  const { data } = await host.until({ "...": true, command: "get_messages" });
  const { messages } = data as { messages: { role: string; content: unknown }[] };
  return messages.flatMap(({ role, content }) => (role === "user" ? [content] : []));
}

it("a module provides the store, and the session has no file", async () => {
  const place = keptPlace({ scenario: ["one", "two"] });
  const module = join(place.folder, "store.mjs");
  const stores = new URL(
    "../../../../packages/coding-agent/dist/session-store.js",
    import.meta.url,
  );
  writeFileSync(
    module,
    `import { FileSessionStore } from ${JSON.stringify(stores.href)};
     export default (url) => new FileSessionStore({ directory: new URL(url, "file:").searchParams.get("in") });`,
  );
  const store = `${module}?in=${join(place.folder, "kept")}`;
  const first = hostOf(place, ["--store", store, ...words]);
  expect(await say(first, "hello")).toMatchObject({ status: "completed" });
  first.send({ type: "get_state" });
  const { data } = await first.until({ "...": true, command: "get_state" });
  expect(data).toMatchObject({ sessionId: "shared" });
  expect(data).not.toHaveProperty("sessionFile");
  await first.finish();
  const second = hostOf(place, [...words], { TAU_STORE: store });
  expect(await userTexts(second)).toEqual(["hello"]);
});

it.each([
  ["redis://:secret@127.0.0.1:1/x y", "secret"],
  ["./missing.mjs", "missing.mjs"],
  ["mysql://user:secret@host/db", "must begin with redis:"],
])("a store that cannot be opened causes one clear error: %s", async (store, shown) => {
  const place = keptPlace({ scenario: [] }, { "session.storeTimeoutMs": 1000 });
  const host = hostOf(place, ["--store", store, ...words]);
  const { code } = await host.ended;
  expect(code).toBe(1);
  if (shown === "secret") expect(host.stderr).not.toContain(shown);
  else expect(host.stderr).toContain(shown);
  expect(host.stderr).not.toContain("secret");
});

describeWith(redisIsMissing)("hosts over Redis", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterAll(async () => {
    await redis[Symbol.asyncDispose]();
  });
  const storeOf = (prefix: string) => `${redis.url}?prefix=${prefix}:`;
  const opened = (prefix: string) => {
    const store = createRedisStore({ url: storeOf(prefix) });
    onTestFinished(() => store.close?.());
    return store;
  };

  it("another host continues after kill -9, and commands do not see the store's address", async () => {
    const place = keptPlace(
      { scenario: [turn([toolCall("bash", { command: "env; sleep 660" })])] },
      { "session.leaseMs": 600 },
    );
    const environment = { TAU_STORE: storeOf("kill"), TAU_REDIS: redis.url };
    const first = hostOf(place, words, environment);
    first.send({ type: "prompt", message: "go" });
    await first.until({ "...": true, type: "tool_execution_update" });
    expect(first.stdout).toContain("PATH=");
    expect(first.stdout).not.toMatch(/TAU_STORE|TAU_REDIS/);
    first.child.kill("SIGKILL");
    await first.ended;
    const ended = (await opened("kill").load(key)) ?? [];
    expect(ended.length).toBeGreaterThan(2);
    // The lease of the dead host has to expire first.
    await new Promise((resolve) => setTimeout(resolve, 700));
    const second = hostOf(keptPlace({ scenario: ["done"] }), words, environment);
    expect(await userTexts(second)).toEqual(["go"]);
    expect(await say(second, "and now?")).toMatchObject({ status: "completed" });
    const now = (await opened("kill").load(key)) ?? [];
    expect(now.slice(0, ended.length)).toEqual(ended);
    expect(JSON.stringify(now)).toContain('"interrupted":true');
    expect(new Set(now.map(({ id }) => id)).size).toBe(now.length);
  });

  it("a stopped host writes nothing after another has taken over", async () => {
    const place = keptPlace({ scenario: ["one", "two", "three"] }, { "session.leaseMs": 900 });
    const store = storeOf("stop");
    const first = hostOf(place, ["--store", store, ...words]);
    first.send({ type: "initialize" });
    expect(await say(first, "first")).toMatchObject({ status: "completed" });
    const refused = hostOf(place, ["--store", store, ...words]);
    expect((await refused.ended).code).toBe(3);
    expect(refused.stderr).toContain("in use");
    first.child.kill("SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const second = hostOf(place, ["--store", store, ...words]);
    expect(await say(second, "second")).toMatchObject({ status: "completed" });
    const before = await opened("stop").load(key);
    first.child.kill("SIGCONT");
    first.send({ type: "prompt", message: "third" });
    await first.until({ "...": true, type: "session_lost" });
    first.send({ type: "prompt", id: "late", message: "fourth" });
    expect(await first.until({ "...": true, type: "response", id: "late" })).toMatchObject({
      success: false,
      code: "session_lost",
    });
    expect(await opened("stop").load(key)).toEqual(before);
    await say(second, "fifth");
    const after = JSON.stringify(await opened("stop").load(key));
    for (const said of ["first", "second", "fifth"]) expect(after).toContain(said);
    for (const lost of ["third", "fourth"]) expect(after).not.toContain(lost);
    // The key had two leases and no third, because the refused host did not get one.
    const lease = await opened("stop")
      .acquire(key, 1000)
      .catch(() => undefined);
    expect(lease).toBeUndefined();
    await second.finish();
    expect((await opened("stop").acquire(key, 1000)).token).toBe(3);
  });
});
