import { randomUUID } from "node:crypto";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileSessionStore, MemorySessionStore, type SessionStore } from "@tau-agent/sessions";
import { createPostgresStore } from "@tau-agent/store-postgres";
import { createRedisStore } from "@tau-agent/store-redis";
import { Redis } from "ioredis";
import { Client } from "pg";
import { PostgresServer } from "../../../../packages/store-postgres/test/postgres-server.ts";
import { RedisServer, redisIsMissing } from "../../../../packages/store-redis/test/redis-server.ts";
import { type BenchOptions, comparedRow, type Measurement, type Row } from "../measurement.ts";

const TEXT = "Some words of a message. ".repeat(40);

type BareAppend = (line: string) => unknown;

interface Subject {
  readonly name: string;
  readonly store: SessionStore;
  readonly bare: BareAppend;
  readonly floorName: string;
}

/** How long each store takes for one entry, compared with its driver alone. */
export const storeAppends: Measurement = {
  name: "store-appends",
  async run({ isQuick }: BenchOptions): Promise<Row[]> {
    await using cleanUp = new AsyncDisposableStack();
    const rows: Row[] = [];
    for (const subject of await subjects(cleanUp)) {
      rows.push(await measure(subject, isQuick ? 100 : 500));
    }
    if (redisIsMissing) console.log(`The store in Redis was not measured: ${redisIsMissing}`);
    return rows;
  },
};

async function measure({ name, store, bare, floorName }: Subject, count: number): Promise<Row> {
  const key = { projectKey: "bench", sessionId: randomUUID() };
  const lease = await store.acquire(key, 600_000);
  const times = { host: [] as number[], floor: [] as number[] };
  for (let at = -50; at < count; at += 1) {
    const entry = { type: "custom", id: `e${at}`, parentId: null, data: TEXT };
    const started = performance.now();
    await bare(JSON.stringify(entry));
    const between = performance.now();
    await store.append(key, [entry], lease);
    if (at < 0) continue;
    times.floor.push((between - started) * 1_000);
    times.host.push((performance.now() - between) * 1_000);
  }
  const what = { what: `${name}: append of 1 KB`, unit: "µs" };
  return comparedRow({ ...what, ratioOf: `store / ${floorName}, medians`, by: "median" }, times);
}

async function subjects(cleanUp: AsyncDisposableStack): Promise<Subject[]> {
  const directory = mkdtempSync(join(tmpdir(), "tau-bench-store-"));
  cleanUp.defer(() => rmSync(directory, { recursive: true, force: true }));
  const lines: string[] = [];
  const file = join(directory, "bare.jsonl");
  return [
    {
      name: "memory",
      store: new MemorySessionStore(),
      bare: (line) => lines.push(line),
      floorName: "a list of lines",
    },
    {
      name: "file",
      store: new FileSessionStore({ directory: join(directory, "store") }),
      bare: (line) => appendFileSync(file, `${line}\n`),
      floorName: "appendFileSync",
    },
    ...(redisIsMissing ? [] : [await redisSubject(cleanUp)]),
    await postgresSubject(cleanUp),
  ];
}

async function redisSubject(cleanUp: AsyncDisposableStack): Promise<Subject> {
  const server = cleanUp.use(await RedisServer.start());
  const store = createRedisStore({ url: server.url });
  const redis = new Redis(server.url);
  cleanUp.defer(async () => {
    redis.disconnect();
    await store.close?.();
  });
  const bare = (line: string) => redis.rpush("bare", line);
  return { name: "Redis", store, bare, floorName: "RPUSH of ioredis" };
}

async function postgresSubject(cleanUp: AsyncDisposableStack): Promise<Subject> {
  const server = cleanUp.use(await PostgresServer.start());
  const store = createPostgresStore({ url: server.url });
  const client = new Client({ connectionString: server.url });
  await client.connect();
  await client.query("CREATE TABLE bare (at bigserial PRIMARY KEY, line text)");
  cleanUp.defer(async () => {
    await client.end();
    await store.close?.();
  });
  const bare = (line: string) => client.query("INSERT INTO bare (line) VALUES ($1)", [line]);
  return { name: "PostgreSQL", store, bare, floorName: "INSERT of pg" };
}
