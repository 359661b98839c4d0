import { runStoreConformance, type SessionKey, type SessionStore } from "@tau-agent/sessions";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { ForgetfulProxy } from "../../store-redis/test/forgetful-proxy.ts";
import { createPostgresStore } from "../src/index.ts";
import { PostgresServer } from "./postgres-server.ts";

const key: SessionKey = { projectKey: "project", sessionId: "session" };
let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

function open(url: string): SessionStore {
  const store = createPostgresStore({ url });
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

test("passes every check with a URL", async () => {
  expect(await broken(open(`${server.url}?schema=of+my+own"`))).toEqual([]);
  const pool = new pg.Pool({ connectionString: server.url });
  const { rows } = await pool.query(
    "SELECT count(*)::int AS tables FROM pg_tables WHERE schemaname = 'of my own\"'",
  );
  await pool.end();
  expect(rows).toEqual([{ tables: 3 }]);
});

test("passes every check with a pool", async () => {
  const pool = new pg.Pool({ connectionString: server.url });
  onTestFinished(() => pool.end());
  const store = createPostgresStore({ pool });
  expect(await broken(store)).toEqual([]);
  await store.close?.();
  expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
});

test("a lease ends even if the server's clock is set back", async () => {
  const store = open(`${server.url}?schema=clock`);
  await store.acquire(key, 100);
  const pool = new pg.Pool({ connectionString: server.url });
  // The lease as it would look after the clock was set back by an hour.
  await pool.query("UPDATE clock.logs SET expires_at = expires_at + interval '1 hour'");
  await pool.end();
  await expect(store.delete(key)).rejects.toMatchObject({ code: "lease_held" });
  const taken = () => store.acquire(key, 60_000).catch((error: unknown) => error);
  await expect.poll(taken, { timeout: 10_000 }).toMatchObject({ token: 2 });
});

test("several stores can create the tables at the same time", async () => {
  const stores = Array.from({ length: 6 }, () => open(`${server.url}?schema=together`));
  const loaded = await Promise.all(stores.map((store) => store.load(key)));
  expect(loaded).toEqual(stores.map(() => null));
});

test("an account that may not create tables uses the existing ones", async () => {
  await open(`${server.url}?schema=shared`).load(key);
  const pool = new pg.Pool({ connectionString: server.url });
  await pool.query("CREATE ROLE guest LOGIN");
  await pool.query("GRANT USAGE ON SCHEMA shared TO guest");
  await pool.query("GRANT ALL ON ALL TABLES IN SCHEMA shared TO guest");
  await pool.end();
  const guest = open(`${server.url.replace("postgres@", "guest@")}?schema=shared`);
  const lease = await guest.acquire(key, 60_000);
  await guest.append(key, [entry("a")], lease);
  expect(await guest.load(key)).toHaveLength(1);
});

test("a server that ends during use causes an error, and keeps committed entries", async () => {
  await using own = await PostgresServer.start();
  const store = open(own.url);
  const lease = await store.acquire(key, 60_000);
  await store.append(key, [entry("a")], lease);
  const ended = own.kill();
  const appended = store.append(key, [entry("b")], lease).catch((error: unknown) => error);
  await ended;
  expect([undefined, "unavailable"]).toContain(((await appended) as { code?: string })?.code);
  await expect(store.append(key, [entry("b")], lease)).rejects.toMatchObject({
    code: "unavailable",
  });
  await own.start();
  await store.append(key, [entry("a"), entry("b")], lease);
  expect((await store.load(key))?.map(({ id }) => id)).toEqual(["a", "b"]);
});

test("a writer that waited for a lock finds that it lost its lease", async () => {
  const store = open(`${server.url}?schema=locked`);
  const other = open(`${server.url}?schema=locked`);
  const lease = await store.acquire(key, 1);
  await store.append(key, [entry("a")], lease);
  const pool = new pg.Pool({ connectionString: server.url });
  const blocker = await pool.connect();
  await blocker.query("BEGIN");
  await blocker.query("SELECT 1 FROM locked.logs FOR UPDATE");
  const next = other.acquire(key, 60_000);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const late = store.append(key, [entry("late")], lease).catch((error: unknown) => error);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await blocker.query("COMMIT");
  blocker.release();
  await pool.end();
  await other.append(key, [entry("b")], await next);
  const isStored = ((await late) as { code?: string } | undefined)?.code !== "lease_lost";
  const ids = (await other.load(key))?.map(({ id }) => id);
  expect(ids).toEqual(isStored ? ["a", "late", "b"] : ["a", "b"]);
  await expect(store.append(key, [entry("c")], lease)).rejects.toMatchObject({
    code: "lease_lost",
  });
});

test("an append whose answer is lost is stored only once when it is repeated", async () => {
  await using proxy = await ForgetfulProxy.start(server.port);
  const url = server.url.replace(`:${server.port}`, `:${proxy.port}`);
  const store = open(`${url}?schema=forgetful`);
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

test("says which options it needs", () => {
  expect(() => createPostgresStore({})).toThrow("either url or pool");
  expect(() => createPostgresStore({ url: "redis://x" })).toThrow("postgres:");
});
