import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createRedisStore } from "@tau-agent/store-redis";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { describeWith } from "../../../scripts/testing/describe-with.ts";
import { RedisServer, redisIsMissing } from "../../store-redis/test/redis-server.ts";
import { testFleet } from "./test-fleet.ts";

/** Replies with a tool call, and with "done" once there is a tool result. */
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
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  const fleet = (scenario: readonly unknown[]) => testFleet({ redisUrl: server.url, scenario });

  const stored = async (sessionId: string, projectKey = "p") => {
    const store = createRedisStore({ url: server.url });
    onTestFinished(() => store.close?.());
    return (await store.load({ projectKey, sessionId })) ?? [];
  };

  test("runs a job as a prompt and numbers its events", async () => {
    const { add, start, ends, framesOf, resultsOf } = fleet(["one", "two"]);
    await start();
    const bad = await add({ sessionId: "s1" }, "bad");
    await expect(bad.waitUntilFinished(ends)).rejects.toThrow("message must be a text");
    const job = await add({ sessionId: "s1", projectKey: "p", message: "hello" }, "job-1");
    expect(await job.waitUntilFinished(ends)).toEqual({
      status: "completed",
      text: "one",
      sessionId: "s1",
    });
    const events = await framesOf("s1");
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(new Set(events.map(({ sessionId }) => sessionId))).toEqual(new Set(["s1"]));
    expect(await resultsOf("s1")).toMatchObject([{ promptId: "job-1", status: "completed" }]);
    const other = await add({ sessionId: "s1", projectKey: "q", message: "hello" }, "job-2");
    await expect(other.waitUntilFinished(ends)).rejects.toThrow("belongs to project p");
    expect((await stored("s1"))[0]).toMatchObject({ type: "session", id: "s1" });
  });

  test("continues on another worker after kill -9 without running a tool again", async () => {
    const { add, start, ends, project, resultsOf } = fleet(calling("echo ran >> ran.txt; sleep 5"));
    const first = await start();
    const job = await add({ sessionId: "s2", projectKey: "p", message: "go" }, "job-3");
    await expect.poll(() => readFileSync(join(project, "ran.txt"), "utf8")).toBe("ran\n");
    first.process.kill("SIGKILL");
    await start();
    expect(await job.waitUntilFinished(ends)).toMatchObject({ status: "completed" });
    const entries = await stored("s2");
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
    expect(JSON.stringify(entries).split('"content":"go"')).toHaveLength(2);
    expect(readFileSync(join(project, "ran.txt"), "utf8")).toBe("ran\n");
    expect(await resultsOf("s2")).toHaveLength(1);
  });

  test("gives an unfinished prompt back on SIGTERM, and the next worker finishes it", async () => {
    const own = fleet(calling("sleep 20"));
    const { add, start, ends, resultsOf, framesOf, redis } = own;
    const { process: first } = await start(["--drain-timeout-ms", "300"]);
    const job = await add({ sessionId: "s3", projectKey: "p", message: "go" }, "job-4");
    await own.seen("s3", "tool_execution_start");
    first.kill("SIGTERM");
    const [code] = await once(first, "exit");
    expect(code).toBe(0);
    expect(await resultsOf("s3")).toEqual([]);
    await start();
    await own.control("s3", { type: "abort", id: "a" });
    const { status } = (await job.waitUntilFinished(ends)) as { status: string };
    expect(["aborted", "completed"]).toContain(status);
    expect(await resultsOf("s3")).toHaveLength(1);
    expect(await framesOf("s3")).toContainEqual(
      expect.objectContaining({ type: "response", id: "a", success: true }),
    );
    expect(await redis.xlen("tau:control:s3")).toBe(0);
  });
});
