import { runStoreConformance, type SessionKey, type SessionStore } from "@tau-agent/sessions";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { describeWith } from "../../../scripts/testing/describe-with.ts";
import { createRedisStore } from "../src/index.ts";
import { ForgetfulProxy } from "./forgetful-proxy.ts";
import { RedisServer, redisIsMissing } from "./redis-server.ts";

const key: SessionKey = { projectKey: "project", sessionId: "session" };
let server: RedisServer;

function open(url: string): SessionStore {
  const store = createRedisStore({ url });
  onTestFinished(() => store.close?.());
  return store;
}

function entry(id: string): object {
  return { type: "custom", id, parentId: null, timestamp: new Date().toISOString() };
}

async function broken(store: SessionStore) {
  const { results } = await runStoreConformance(store);
  return results.filter(({ ok }) => !ok);
}

describeWith(redisIsMissing)("the store in Redis", () => {
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  test("passes every check with a URL", async () => {
    expect(await broken(open(`${server.url}?prefix=conformance:`))).toEqual([]);
    const redis = new Redis(server.url);
    const names = await redis.keys("*");
    redis.disconnect();
    expect(names.filter((name) => !name.startsWith("conformance:"))).toEqual([]);
  });

  test("passes every check with a client of ioredis", async () => {
    const client = new Redis(server.url);
    onTestFinished(() => client.disconnect());
    const store = createRedisStore({ client });
    expect(await broken(store)).toEqual([]);
    await store.close?.();
    expect(await client.ping()).toBe("PONG");
  });

  test("a lease ends even if the server's clock is set back", async () => {
    const redis = new Redis(server.url);
    onTestFinished(() => redis.disconnect());
    const store = open(`${server.url}?prefix=clock:`);
    await store.acquire(key, 100);
    // The lease as it would look after the clock was set back by an hour.
    const lease = "clock:{project}:lease:session";
    await redis.hincrby(lease, "expires", 3_600_000);
    await expect(store.acquire(key, 100)).rejects.toMatchObject({ code: "lease_held" });
    const taken = () => store.acquire(key, 60_000).catch((error: unknown) => error);
    await expect.poll(taken, { timeout: 10_000 }).toMatchObject({ token: 2 });
  });

  test("passes every check with a client of redis", async () => {
    const client = createClient({ url: server.url });
    await client.connect();
    onTestFinished(() => client.destroy());
    expect(await broken(createRedisStore({ client }))).toEqual([]);
  });

  test("two prefixes share nothing", async () => {
    const one = open(`${server.url}?prefix=one:`);
    const two = open(`${server.url}?prefix=two:`);
    const lease = await one.acquire(key, 60_000);
    await one.append(key, [entry("a")], lease);
    expect(await two.load(key)).toBeNull();
    await two.release(await two.acquire(key, 60_000));
  });

  test("says which options it needs", () => {
    expect(() => createRedisStore({})).toThrow("either url or client");
    expect(() => createRedisStore({ url: "http://x" })).toThrow("redis:");
    expect(() => createRedisStore({ url: "secret password" })).not.toThrow("secret");
  });
});

describeWith(redisIsMissing)("a failing Redis", () => {
  test("an append whose answer is lost is stored only once when it is repeated", async () => {
    await using own = await RedisServer.start();
    await using proxy = await ForgetfulProxy.start(own.port);
    const store = open(own.url.replace(`:${own.port}`, `:${proxy.port}`));
    const lease = await store.acquire(key, 60_000);
    await store.append(key, [entry("a")], lease);
    for (const id of ["b", "c", "d"]) {
      proxy.forgetNextAnswer();
      const batch = [entry(id), entry(`${id}2`)];
      // The driver may repeat the append itself; otherwise the host does.
      await store.append(key, batch, lease).catch((error: unknown) => {
        expect(error).toMatchObject({ code: "unavailable" });
      });
      expect(proxy.forgotten).toBe(true);
      await store.append(key, batch, lease);
    }
    const ids = (await store.load(key))?.map(({ id }) => id);
    expect(ids).toEqual(["a", "b", "b2", "c", "c2", "d", "d2"]);
    await store.close?.();
  });

  test("a killed server causes an error, and has all acknowledged entries after a restart", async () => {
    await using own = await RedisServer.start();
    const store = open(own.url);
    const lease = await store.acquire(key, 60_000);
    await store.append(key, [entry("a")], lease);
    await own.kill();
    await expect(store.append(key, [entry("b")], lease)).rejects.toMatchObject({
      code: "unavailable",
    });
    await own.start();
    await store.append(key, [entry("a"), entry("b")], lease);
    expect((await store.load(key))?.map(({ id }) => id)).toEqual(["a", "b"]);
  });

  test("a late write changes nothing after another writer has taken over", async () => {
    await using own = await RedisServer.start();
    const slow = open(own.url);
    const other = open(own.url);
    const lease = await slow.acquire(key, 1);
    await slow.append(key, [entry("a")], lease);
    own.pause();
    const acquired = other.acquire(key, 60_000);
    const late = slow.append(key, [entry("late")], lease);
    await new Promise((resolve) => setTimeout(resolve, 50));
    own.resume();
    // Whichever write the server handles first, only one of the writers may continue afterwards.
    const next = await acquired;
    const isStored = await late.then(
      () => true,
      () => false,
    );
    await other.append(key, [entry("b")], next);
    await expect(slow.append(key, [entry("c")], lease)).rejects.toMatchObject({
      code: "lease_lost",
    });
    const ids = (await other.load(key))?.map(({ id }) => id);
    expect(ids).toEqual(isStored ? ["a", "late", "b"] : ["a", "b"]);
  });

  test("a full server refuses the whole batch, but releases the lease", async () => {
    await using own = await RedisServer.start("--maxmemory-policy", "noeviction");
    const store = open(own.url);
    const lease = await store.acquire(key, 60_000);
    await store.append(key, [entry("a")], lease);
    const redis = new Redis(own.url);
    await redis.config("SET", "maxmemory", "1");
    const batch = Array.from({ length: 50 }, (_, index) => entry(`more ${index}`));
    await expect(store.append(key, batch, lease)).rejects.toMatchObject({ code: "unavailable" });
    expect(await store.load(key)).toHaveLength(1);
    await store.release(lease);
    await redis.config("SET", "maxmemory", "0");
    redis.disconnect();
    const next = await store.acquire(key, 60_000);
    await store.append(key, batch, next);
    expect(await store.load(key)).toHaveLength(51);
  });
});
