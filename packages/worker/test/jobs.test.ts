import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createPostgresStore } from "@tau-agent/store-postgres";
import { createRedisStore } from "@tau-agent/store-redis";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { describeWith } from "../../../scripts/testing/describe-with.ts";
import { slice } from "../../../scripts/testing/slice.ts";
import { PostgresServer } from "../../store-postgres/test/postgres-server.ts";
import { RedisServer, redisIsMissing } from "../../store-redis/test/redis-server.ts";
import { hostsOf, testFleet } from "./test-fleet.ts";

const program = fileURLToPath(new URL("../bin/tau-worker.js", import.meta.url));
const bash = (command: string) => ({ type: "toolCall", name: "bash", arguments: { command } });
/** A shell command for each prompt, then an answer. */
const running = (command: string) => [
  { repeat: true, when: { hasToolResults: false }, content: [bash(command)] },
  { repeat: true, content: "done" },
];
/** Kills the host on the request that follows its first reply. */
const dying = `
const call = { type: "toolCall", name: "bash", arguments: { command: "true" } };
export default ({ toolResults }) => (toolResults.length === 0 ? { content: [call] } : process.exit(3));
`;

describeWith(redisIsMissing)("jobs", () => {
  let redis: RedisServer;
  let postgres: PostgresServer;
  beforeAll(async () => {
    [redis, postgres] = await Promise.all([RedisServer.start(), PostgresServer.start()]);
  });
  afterAll(async () => {
    await redis[Symbol.asyncDispose]();
    await postgres[Symbol.asyncDispose]();
  });

  const places = {
    redis: { url: () => redis.url, open: () => createRedisStore({ url: redis.url }) },
    postgres: { url: () => postgres.url, open: () => createPostgresStore({ url: postgres.url }) },
  };

  /** The users' messages of a session in the store. */
  async function asked(kind: keyof typeof places, sessionId: string): Promise<unknown[]> {
    const store = places[kind].open();
    onTestFinished(() => store.close?.());
    const entries = (await store.load({ projectKey: "p", sessionId })) ?? [];
    return entries.flatMap(({ message }) => {
      const { role, content } = (message ?? {}) as { role?: string; content?: unknown };
      return role === "user" ? [content] : [];
    });
  }

  test("returns the output of a job whose worker died before it reported the result", async () => {
    const scenario = [{ repeat: true, content: '{"answer": 42}' }];
    const fleet = testFleet({ redisUrl: redis.url, scenario });
    await fleet.start();
    const outputSchema = { type: "object", properties: { answer: { type: "number" } } };
    const data = { sessionId: "told", projectKey: "p", message: "answer", outputSchema };
    const first = await fleet.add(data, "told-1");
    const result = await first.waitUntilFinished(fleet.ends);
    expect(result).toMatchObject({ status: "completed", output: { answer: 42 } });
    // As if the worker had died after the last entry: the job is still queued, and its result is unreported.
    await first.remove();
    await fleet.redis.del("tau:events:told");
    const again = await fleet.add(data, "told-1");
    expect(await again.waitUntilFinished(fleet.ends)).toEqual(result);
    expect(await fleet.resultsOf("told")).toMatchObject([
      { promptId: "told-1", status: "completed", output: { answer: 42 } },
    ]);
  });

  test("runs a delayed job although the clock was set back", async () => {
    const scenario = running("echo begin >> ran.txt; sleep 1.5");
    const fleet = testFleet({ redisUrl: redis.url, scenario });
    const clock = join(fleet.folder, "clock.mjs");
    writeFileSync(
      clock,
      `const { now } = Date; let back = 0; Date.now = () => now() - back;
       process.on("SIGUSR2", () => { back = 3_600_000; });`,
    );
    const preload = `${process.env.NODE_OPTIONS ?? ""} --import ${clock}`;
    const worker = await fleet.start(["--concurrency", "2"], [], { NODE_OPTIONS: preload });
    const jobs = [];
    for (const id of ["clock-1", "clock-2"]) {
      jobs.push(await fleet.add({ sessionId: "clock", projectKey: "p", message: id }, id));
    }
    await expect.poll(() => readFileSync(join(fleet.project, "ran.txt"), "utf8")).toBe("begin\n");
    await expect.poll(() => fleet.queue.getDelayedCount(), { interval: 5 }).toBe(1);
    worker.process.kill("SIGUSR2");
    const results = await Promise.all(jobs.map((job) => job.waitUntilFinished(fleet.ends)));
    expect(results).toMatchObject([{ status: "completed" }, { status: "completed" }]);
  });

  test.each(slice(["redis", "postgres"] as const, 1))(
    "runs the jobs of a session in the order they were added, also after kill -9 (%s)",
    async (kind) => {
      const fleet = testFleet({
        redisUrl: redis.url,
        storeUrl: places[kind].url(),
        scenario: running(
          "echo begin >> ran.txt; until test -e go; do sleep 0.05; done; echo end >> ran.txt",
        ),
      });
      const two = await Promise.all([fleet.start(["--concurrency", "2"]), fleet.start()]);
      const sessionId = `turns-${randomUUID()}`;
      const ids = ["j0", "j1", "j2", "j3"].map((id) => `${sessionId}-${id}`);
      const jobs = [];
      for (const id of ids) {
        jobs.push(await fleet.add({ sessionId, projectKey: "p", message: id }, id));
      }
      await expect.poll(() => readFileSync(join(fleet.project, "ran.txt"), "utf8")).toBe("begin\n");
      const busy = two.find((worker) => hostsOf(worker).length > 0);
      const hosts = hostsOf(busy);
      expect(hosts).toHaveLength(1);
      busy?.process.kill("SIGKILL");
      spawnSync("kill", ["-KILL", ...hosts]);
      writeFileSync(join(fleet.project, "go"), "");
      await fleet.start();
      for (const job of jobs) {
        expect(await job.waitUntilFinished(fleet.ends)).toMatchObject({ status: "completed" });
      }
      expect(await asked(kind, sessionId)).toEqual(ids);
      expect((await fleet.resultsOf(sessionId)).map(({ promptId }) => promptId)).toEqual(ids);
      expect(await fleet.redis.exists(`tau:turns:${sessionId}`)).toBe(0);
    },
  );

  test("fails a job with the last reason when all its hosts die, and runs the next job", async () => {
    const fleet = testFleet({ redisUrl: redis.url, scenario: dying });
    // Each new host waits until the lease of the dead one has expired.
    const worker = await fleet.start(["--max-lives", "2", "--lease-ms", "1000"]);
    const job = await fleet.add({ sessionId: "lives", projectKey: "p", message: "go" }, "dying");
    const next = await fleet.add({ sessionId: "lives", projectKey: "p", message: "go on" }, "next");
    await expect(job.waitUntilFinished(fleet.ends)).rejects.toThrow(
      /^2 hosts in a row ended without a new entry; the last one: it ended with code 3$/,
    );
    await expect(next.waitUntilFinished(fleet.ends)).rejects.toThrow("2 hosts in a row");
    expect(worker.said()).toContain("job dying: its host ended: it ended with code 3");
    expect(await asked("redis", "lives")).toEqual(["go", "go on"]);
  });

  test("fails a job with a damaged session at once", async () => {
    const fleet = testFleet({ redisUrl: redis.url, scenario: ["never"] });
    const store = createRedisStore({ url: redis.url });
    onTestFinished(() => store.close?.());
    const key = { projectKey: "p", sessionId: "damaged" };
    const lease = await store.acquire(key, 60_000);
    await store.append(key, [{ type: "custom", id: "x" }], lease);
    await store.release(lease);
    const worker = await fleet.start();
    const job = await fleet.add({ ...key, message: "go" }, "damaged");
    await expect(job.waitUntilFinished(fleet.ends)).rejects.toThrow(/^tau: error: .* is damaged/);
    expect(worker.said()).not.toContain("its host ended");
  });

  test("fails a job with the reason why its hosts cannot start", async () => {
    const fleet = testFleet({ redisUrl: redis.url, scenario: ["never"] });
    await fleet.start(["--max-lives", "2"]);
    const data = { sessionId: "mistake", projectKey: "p", message: "go", thinkingLevel: "much" };
    const job = await fleet.add(data, "mistake");
    await expect(job.waitUntilFinished(fleet.ends)).rejects.toThrow(
      /^2 hosts in a row .* the last one: tau: error: .*much/s,
    );
  });

  test("runs the next job after a job was removed", async () => {
    const fleet = testFleet({ redisUrl: redis.url, scenario: running("echo begin; sleep 660") });
    const worker = await fleet.start();
    const data = { sessionId: "removed", projectKey: "p", message: "go" };
    const job = await fleet.add(data, "removed-1");
    await fleet.seen("removed", "tool_execution_start");
    const hosts = hostsOf(worker);
    worker.process.kill("SIGKILL");
    spawnSync("kill", ["-KILL", ...hosts]);
    await expect
      .poll(() =>
        job.remove().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    await fleet.start();
    const next = await fleet.add(data, "removed-2");
    await fleet.seen("removed", "prompt_result", async () => {
      await fleet.control("removed", { type: "abort" });
    });
    expect(await next.waitUntilFinished(fleet.ends)).toMatchObject({ sessionId: "removed" });
  });

  test("takes the folder from a checkout module, and releases it afterwards", async () => {
    const fleet = testFleet({ redisUrl: redis.url, scenario: running("pwd -P > where.txt") });
    const module = join(fleet.folder, "checkout.mjs");
    writeFileSync(
      module,
      `import { appendFileSync, mkdirSync } from "node:fs";
       export default async ({ sessionId, project, signal }) => {
         if (project.bad) return { cwd: "/no/such/folder" };
         const cwd = new URL(project.name, import.meta.url).pathname;
         mkdirSync(cwd);
         const release = () => {
           appendFileSync(cwd + "/released.txt", sessionId + signal.aborted);
           throw new Error("nobody to push to");
         };
         return { cwd, release };
       };`,
    );
    const worker = await fleet.start(["--checkout", module, "--max-lives", "2"]);
    const data = { sessionId: "checkout", projectKey: "p", message: "go" };
    const job = await fleet.add({ ...data, project: { name: "made" } }, "checkout-1");
    expect(await job.waitUntilFinished(fleet.ends)).toMatchObject({ status: "completed" });
    const made = join(fleet.folder, "made");
    expect(readFileSync(join(made, "where.txt"), "utf8")).toMatch(/\/made\n$/);
    expect(readFileSync(join(made, "released.txt"), "utf8")).toBe("checkoutfalse");
    expect(worker.said()).toContain("nobody to push to");
    expect(existsSync(join(fleet.project, "where.txt"))).toBe(false);
    const bad = await fleet.add({ ...data, project: { bad: true } }, "checkout-2");
    await expect(bad.waitUntilFinished(fleet.ends)).rejects.toThrow(
      "must return {cwd} with the path of a folder",
    );
  });

  test("accepts only the commands of --control, and none for waiting jobs", async () => {
    const fleet = testFleet({ redisUrl: redis.url, scenario: running("sleep 660") });
    await fleet.start(["--control", "abort,get_state", "--concurrency", "2"]);
    const data = { sessionId: "control", projectKey: "p", message: "go" };
    const job = await fleet.add(data, "control-1");
    await fleet.add(data, "control-2");
    await fleet.seen("control", "tool_execution_start");
    await fleet.control("control", { type: "bash", id: "b", command: "touch made.txt" });
    for (let at = 0; at < 10; at += 1) {
      await fleet.control("control", { type: "get_state", id: `s${at}` });
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    await fleet.control("control", { type: "abort", id: "a" });
    expect(await job.waitUntilFinished(fleet.ends)).toMatchObject({ status: "aborted" });
    const answers = (await fleet.framesOf("control")).filter(({ type }) => type === "response");
    expect(answers.find(({ id }) => id === "b")).toMatchObject({
      success: false,
      code: "unknown_command",
      error: expect.stringContaining("--control"),
    });
    const states = answers.filter(({ command }) => command === "get_state");
    expect(states.map(({ id, success }) => [id, success])).toEqual(
      Array.from({ length: 10 }, (_, at) => [`s${at}`, true]),
    );
    expect(existsSync(join(fleet.project, "made.txt"))).toBe(false);
  });

  const pauses = [
    ["the machine", true],
    ["the worker alone", false],
  ] as const;
  test.each(slice(pauses, 1))(
    "ignores a paused worker after another one took the job: %s",
    async (_, isMachine) => {
      const fleet = testFleet({
        redisUrl: redis.url,
        scenario: running("echo ran >> ran.txt; sleep 3"),
      });
      const sessionId = `paused-${isMachine}`;
      const first = await fleet.start();
      const job = await fleet.add({ sessionId, projectKey: "p", message: "go" }, sessionId);
      await fleet.seen(sessionId, "tool_execution_start");
      await expect.poll(() => readFileSync(join(fleet.project, "ran.txt"), "utf8")).toBe("ran\n");
      const paused = [String(first.process.pid), ...(isMachine ? hostsOf(first) : [])];
      spawnSync("kill", ["-STOP", ...paused]);
      const second = await fleet.start();
      const isTaken = () => hostsOf(second).length > 0;
      await expect.poll(isTaken, { timeout: 20_000, interval: 50 }).toBe(true);
      if (isMachine) await job.waitUntilFinished(fleet.ends);
      spawnSync("kill", ["-CONT", ...paused]);
      expect(await job.waitUntilFinished(fleet.ends)).toMatchObject({ status: "completed" });
      await expect.poll(() => hostsOf(first)).toEqual([]);
      const seqs = (await fleet.framesOf(sessionId)).map(({ seq }) => Number(seq));
      expect(seqs).toEqual(seqs.map((_, at) => at + 1));
      expect(await fleet.resultsOf(sessionId)).toHaveLength(1);
      expect(await asked("redis", sessionId)).toEqual(["go"]);
      expect(readFileSync(join(fleet.project, "ran.txt"), "utf8")).toBe("ran\n");
      expect(first.process.exitCode).toBeNull();
    },
  );

  test("continues a prompt after the store was away for too long", async () => {
    const own = await RedisServer.start();
    onTestFinished(() => own[Symbol.asyncDispose]());
    const fleet = testFleet({
      redisUrl: redis.url,
      storeUrl: own.url,
      scenario: running("sleep 0.5"),
      settings: { "session.storeTimeoutMs": 500 },
    });
    await fleet.start();
    const job = await fleet.add({ sessionId: "away", projectKey: "p", message: "go" }, "away");
    await fleet.seen("away", "tool_execution_start");
    await own.kill();
    await new Promise((resolve) => setTimeout(resolve, 2000));
    await own.start();
    expect(await job.waitUntilFinished(fleet.ends)).toMatchObject({ status: "completed" });
    expect(await fleet.resultsOf("away")).toHaveLength(1);
  });
});

test.each([
  [["--redis", "redis://127.0.0.1:1"], "--redis: cannot connect: connect ECONNREFUSED"],
  [["--redis", "secret"], "--redis must begin with redis:// or rediss://"],
  [["--redis", "redis://127.0.0.1:1", "--cwd", "/no/such"], "--cwd: /no/such is not a folder"],
  [["--redis", "redis://127.0.0.1:1", "--max-lives", "0"], "--max-lives takes a whole number"],
])("explains why a worker cannot start: %s", (words, expected) => {
  const all = [program, ...words, "--queue", "q", "--store", "redis://127.0.0.1:1"];
  const ended = spawnSync(process.execPath, all, { encoding: "utf8", timeout: 30_000 });
  expect(ended.status).toBe(1);
  expect(ended.stderr).toContain(expected);
});
