import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRedisStore } from "@tau-agent/store-redis";
import { Queue, QueueEvents } from "bullmq";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { describeWith } from "../../../scripts/testing/describe-with.ts";
import { RedisServer, redisIsMissing } from "../../store-redis/test/redis-server.ts";

const program = fileURLToPath(new URL("../bin/tau-worker.js", import.meta.url));
/** A tool call first; once it has any result, the end. */
const calling = (command: string) => [
  {
    repeat: true,
    when: { hasToolResults: false },
    content: [{ type: "toolCall", name: "bash", arguments: { command } }],
  },
  { repeat: true, when: { lastToolName: "bash" }, content: "done" },
];

describeWith(redisIsMissing)("workers", () => {
  let server: RedisServer;
  let redis: Redis;
  let count = 0;
  beforeAll(async () => {
    server = await RedisServer.start();
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server[Symbol.asyncDispose]();
  });

  /** A queue of a test's own, and what workers of it need. */
  function fleet(scenario: readonly unknown[]) {
    const folder = mkdtempSync(join(tmpdir(), "tau-fleet-"));
    const name = `queue-${count++}`;
    const model = join(folder, "scenario.json");
    writeFileSync(model, JSON.stringify(scenario));
    mkdirSync(join(folder, "project"));
    const connection = new Redis(server.url, { maxRetriesPerRequest: null });
    const queue = new Queue(name, { connection });
    const ends = new QueueEvents(name, { connection: connection.duplicate() });
    const workers: ChildProcess[] = [];
    onTestFinished(async () => {
      for (const worker of workers) worker.kill("SIGKILL");
      await queue.close();
      await ends.close();
      connection.disconnect();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    });
    const start = async (...more: string[]) => {
      const place = ["--redis", server.url, "--queue", name, "--store", server.url];
      const host = ["--", "--provider", "scripted", "--model", model];
      const own = ["--cwd", join(folder, "project"), "--lease-ms", "1500"];
      const worker = spawn(process.execPath, [program, ...place, ...own, ...more, ...host], {
        env: { ...process.env, HOME: folder, PI_CODING_AGENT_DIR: join(folder, "agent") },
        stdio: ["ignore", "ignore", "pipe"],
      });
      workers.push(worker);
      let said = "";
      worker.stderr?.on("data", (chunk: Buffer) => {
        said += String(chunk);
      });
      while (!said.includes("takes prompts")) {
        if (worker.exitCode !== null) throw new Error(said);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return worker;
    };
    const add = (data: object, jobId: string) => queue.add("prompt", data, { jobId });
    return { add, start, ends, project: join(folder, "project") };
  }

  async function eventsOf(sessionId: string): Promise<Record<string, unknown>[]> {
    const entries = await redis.xrange(`tau:events:${sessionId}`, "-", "+");
    return entries.map(([, [, text = "{}"]]) => JSON.parse(text) as Record<string, unknown>);
  }

  async function seen(sessionId: string, type: string): Promise<void> {
    await expect
      .poll(async () => (await eventsOf(sessionId)).map((frame) => frame.type), { timeout: 20_000 })
      .toContain(type);
  }

  const stored = async (sessionId: string, projectKey = "p") => {
    const store = createRedisStore({ url: server.url });
    onTestFinished(() => store.close?.());
    return (await store.load({ projectKey, sessionId })) ?? [];
  };

  const resultsOf = async (sessionId: string) =>
    (await eventsOf(sessionId)).filter(({ type }) => type === "prompt_result");

  test("a job is a prompt, and its events are numbered", async () => {
    const { add, start, ends } = fleet(["one", "two"]);
    await start();
    const bad = await add({ sessionId: "s1" }, "bad");
    await expect(bad.waitUntilFinished(ends)).rejects.toThrow("message must be a text");
    const job = await add({ sessionId: "s1", projectKey: "p", message: "hello" }, "job-1");
    expect(await job.waitUntilFinished(ends)).toEqual({
      status: "completed",
      text: "one",
      sessionId: "s1",
    });
    const events = await eventsOf("s1");
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(new Set(events.map(({ sessionId }) => sessionId))).toEqual(new Set(["s1"]));
    expect(await resultsOf("s1")).toMatchObject([{ promptId: "job-1", status: "completed" }]);
    const other = await add({ sessionId: "s1", projectKey: "q", message: "hello" }, "job-2");
    await expect(other.waitUntilFinished(ends)).rejects.toThrow("belongs to project p");
    expect((await stored("s1"))[0]).toMatchObject({ type: "session", id: "s1" });
  });

  test("another worker goes on after kill -9, and runs no tool again", async () => {
    const { add, start, ends, project } = fleet(calling("echo ran >> ran.txt; sleep 30"));
    const first = await start();
    const job = await add({ sessionId: "s2", projectKey: "p", message: "go" }, "job-3");
    await expect.poll(() => readFileSync(join(project, "ran.txt"), "utf8")).toBe("ran\n");
    first.kill("SIGKILL");
    await start();
    expect(await job.waitUntilFinished(ends)).toMatchObject({ status: "completed" });
    const entries = await stored("s2");
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
    expect(JSON.stringify(entries).split('"content":"go"')).toHaveLength(2);
    expect(readFileSync(join(project, "ran.txt"), "utf8")).toBe("ran\n");
    expect(await resultsOf("s2")).toHaveLength(1);
  });

  test("SIGTERM gives an unfinished prompt back, and the next worker ends it", async () => {
    const { add, start, ends } = fleet(calling("sleep 20"));
    const first = await start("--drain-timeout-ms", "300");
    const job = await add({ sessionId: "s3", projectKey: "p", message: "go" }, "job-4");
    await seen("s3", "tool_execution_start");
    first.kill("SIGTERM");
    const [code] = await once(first, "exit");
    expect(code).toBe(0);
    expect(await resultsOf("s3")).toEqual([]);
    await start();
    await redis.xadd("tau:control:s3", "*", "command", JSON.stringify({ type: "abort", id: "a" }));
    const { status } = (await job.waitUntilFinished(ends)) as { status: string };
    expect(["aborted", "completed"]).toContain(status);
    expect(await resultsOf("s3")).toHaveLength(1);
    expect(await eventsOf("s3")).toContainEqual(
      expect.objectContaining({ type: "response", id: "a", success: true }),
    );
    expect(await redis.xlen("tau:control:s3")).toBe(0);
  });
});
