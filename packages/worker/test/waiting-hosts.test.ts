import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createRedisStore } from "@tau-agent/store-redis";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { describeWith } from "../../../scripts/testing/describe-with.ts";
import { RedisServer, redisIsMissing } from "../../store-redis/test/redis-server.ts";
import { hostsOf, testFleet } from "./test-fleet.ts";

/** Installed as a dependency of the host's tests. */
const adapter = createRequire(new URL("../../../apps/cli/package.json", import.meta.url)).resolve(
  "pi-mcp-adapter",
);
const mcpServer = new URL("../../mcp/src/__fixtures__/stdio-server.ts", import.meta.url).href;

/** Replies with a tool call, and with "done" once there is a tool result. */
const calling = (command: string) => [
  {
    repeat: true,
    when: { hasToolResults: false },
    content: [{ type: "toolCall", name: "bash", arguments: { command } }],
  },
  { repeat: true, when: { lastToolName: "bash" }, content: "done" },
];

describeWith(redisIsMissing)("hosts and workers that wait", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  const fleet = (scenario: readonly unknown[]) => testFleet({ redisUrl: server.url, scenario });
  /** A paused worker cannot notice that its host has ended. */
  const hasEnded = (pid: string) =>
    /^Z|^$/.test(spawnSync("ps", ["-o", "stat=", "-p", pid], { encoding: "utf8" }).stdout.trim());

  test("ends the host of a paused worker, and another worker continues", async () => {
    const { add, start, ends, project, resultsOf } = fleet(calling("echo ran >> ran.txt; sleep 8"));
    const first = await start();
    const job = await add({ sessionId: "paused", projectKey: "p", message: "go" }, "paused-1");
    await expect.poll(() => readFileSync(join(project, "ran.txt"), "utf8")).toBe("ran\n");
    const [host = ""] = hostsOf(first);
    // Only the worker is paused: its host still runs, with all pipes open.
    first.process.kill("SIGSTOP");
    await start();
    expect(await job.waitUntilFinished(ends, 30_000)).toMatchObject({ status: "completed" });
    expect(readFileSync(join(project, "ran.txt"), "utf8")).toBe("ran\n");
    await expect.poll(() => hasEnded(host), { timeout: 10_000 }).toBe(true);
    first.process.kill("SIGCONT");
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await resultsOf("paused")).toHaveLength(1);
  });

  test("continues the job of a killed worker soon after its lease, and reports it", async () => {
    const { add, start, ends, project } = fleet(calling("echo ran >> ran.txt; sleep 20"));
    const leaseMs = 10_000;
    const lease = ["--lease-ms", String(leaseMs)];
    const first = await start(lease);
    const job = await add({ sessionId: "killed", projectKey: "p", message: "go" }, "killed-1");
    await expect.poll(() => readFileSync(join(project, "ran.txt"), "utf8")).toBe("ran\n");
    const second = await start(lease);
    // With one check per lease, a check would now be just too early, and the next one far away.
    await new Promise((resolve) => setTimeout(resolve, 0.55 * leaseMs));
    first.process.kill("SIGKILL");
    const line = "job killed-1: its worker has not renewed its lease";
    await expect.poll(second.said, { timeout: 1.3 * leaseMs }).toContain(line);
    expect(await job.waitUntilFinished(ends, 60_000)).toMatchObject({ status: "completed" });
  });

  test("continues after kill -9 of a worker when extensions of the hosts load slowly", async () => {
    const own = fleet(calling("sleep 0.2"));
    const extension = join(own.folder, "slow.mjs");
    writeFileSync(
      extension,
      "const until = Date.now() + 2500; while (Date.now() < until); export default () => {};",
    );
    const host = ["--extension", extension];
    const [first] = await Promise.all([own.start([], host), own.start([], host)]);
    const ids = ["slow-a", "slow-b", "slow-c"];
    const jobs = await Promise.all(
      ids.map((sessionId) => own.add({ sessionId, projectKey: "p", message: "go" }, sessionId)),
    );
    await expect.poll(() => hostsOf(first).length).toBe(1);
    first?.process.kill("SIGKILL");
    const results = jobs.map((job) => job.waitUntilFinished(own.ends, 60_000));
    expect(await Promise.all(results)).toMatchObject(ids.map(() => ({ status: "completed" })));
  });

  test("continues after kill -9 in a fleet with pi-mcp-adapter and a server over npx", async () => {
    const own = fleet(calling("sleep 0.2"));
    const files = {
      "server/package.json": JSON.stringify({
        name: "tau-test-server",
        version: "1.0.0",
        bin: "run.mjs",
      }),
      "server/run.mjs": `#!/usr/bin/env node
        process.argv[2] = '{"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}';
        await import(${JSON.stringify(mcpServer)});`,
      "agent/mcp.json": JSON.stringify({
        mcpServers: { echo: { command: "npx", args: ["--offline", "-y", `${own.folder}/server`] } },
      }),
    };
    mkdirSync(join(own.folder, "server"));
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(own.folder, name), text, { mode: 0o755 });
    }
    const host = ["--extension", adapter];
    const [first] = await Promise.all([own.start([], host), own.start([], host)]);
    const ids = ["npx-a", "npx-b", "npx-c"];
    const jobs = await Promise.all(
      ids.map((sessionId) => own.add({ sessionId, projectKey: "p", message: "go" }, sessionId)),
    );
    await expect.poll(() => hostsOf(first).length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    first?.process.kill("SIGKILL");
    const results = jobs.map((job) => job.waitUntilFinished(own.ends, 100_000));
    expect(await Promise.all(results)).toMatchObject(ids.map(() => ({ status: "completed" })));
  });

  test("reports a job whose session another host keeps, and fails it in the end", async () => {
    const { add, start, ends, redis } = fleet([{ repeat: true, content: "done" }]);
    const store = createRedisStore({ url: server.url });
    onTestFinished(() => store.close?.());
    const key = { projectKey: "p", sessionId: "kept" };
    const lease = await store.acquire(key, 60_000, "somebody else");
    await start(["--lock-timeout-ms", "1000"]);
    const job = await add({ ...key, message: "go" }, "kept-1");
    await expect(job.waitUntilFinished(ends, 30_000)).rejects.toThrow(
      /^waited \d+ s for session kept, which another host holds: .*is in use/s,
    );
    expect(await redis.zcard("tau:turns:kept")).toBe(0);
    await store.release(lease);
    const again = await add({ ...key, message: "go" }, "kept-2");
    expect(await again.waitUntilFinished(ends, 30_000)).toMatchObject({ status: "completed" });
  });
});
