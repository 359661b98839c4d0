import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRedisStore } from "@tau-agent/store-redis";
import { expect, onTestFinished, test } from "vitest";
import { describeWith } from "../../../scripts/testing/describe-with.ts";
import { RedisServer, redisIsMissing } from "../../store-redis/test/redis-server.ts";
import { hostsOf, testFleet } from "./test-fleet.ts";

const tau = fileURLToPath(new URL("../../../apps/cli/bin/tau.js", import.meta.url));

/** Prints something before, while and after its host dies, and ends once the file `finish` exists. */
const command = [
  "echo ran >> ran.txt",
  "echo before",
  "until [ -f killed ]; do sleep 0.1; done",
  "echo while; echo said >> ran.txt",
  "until [ -f finish ]; do sleep 0.1; done",
  "echo after",
].join("; ");
const scenario = [
  {
    repeat: true,
    when: { hasToolResults: false },
    content: [{ type: "toolCall", name: "bash", arguments: { command } }],
  },
  { repeat: true, when: { lastToolName: "bash" }, content: "done" },
];

describeWith(redisIsMissing)("a long command behind an exec server", () => {
  test("continues when its worker and host are killed, and a worker elsewhere finishes the prompt", async () => {
    const server = await RedisServer.start();
    onTestFinished(() => server[Symbol.asyncDispose]());
    const fleet = testFleet({ redisUrl: server.url, scenario });
    const { project, ends } = fleet;
    const folder = (name: string) => {
      const path = join(fleet.folder, name);
      mkdirSync(path);
      return path;
    };
    // The folders of the remote machine, which every worker reaches in the same way.
    const [home, temporary] = [folder("there"), folder("there-tmp")];
    const there = ["env", `HOME=${home}`, `TMPDIR=${temporary}`, process.execPath, tau];
    const workspace = JSON.stringify({ command: [...there, "exec-server"], cwd: project });
    /** Starts a worker on a machine of its own: the workers share no files. */
    const start = (name: string) => {
      const variables = { HOME: folder(name), TMPDIR: folder(`${name}-tmp`) };
      const agent = { PI_CODING_AGENT_DIR: folder(`${name}-agent`) };
      const here = ["--cwd", folder(`${name}-cwd`)];
      return fleet.start(here, ["--workspace", workspace], { ...variables, ...agent });
    };
    const first = await start("first");
    const job = await fleet.add({ sessionId: "s", projectKey: "p", message: "go" }, "job");
    const ran = join(project, "ran.txt");
    const lines = () => (existsSync(ran) ? readFileSync(ran, "utf8") : "");
    await expect.poll(lines).toBe("ran\n");
    const hosts = hostsOf(first).map(Number);
    first.process.kill("SIGKILL");
    for (const host of hosts) process.kill(host, "SIGKILL");
    writeFileSync(join(project, "killed"), "");
    // No worker is running at this point.
    await expect.poll(lines).toBe("ran\nsaid\n");
    await start("second");
    const starts = async () =>
      (await fleet.framesOf("s")).filter(({ type }) => type === "tool_execution_start").length;
    await expect.poll(starts).toBe(2);
    writeFileSync(join(project, "finish"), "");
    expect(await job.waitUntilFinished(ends)).toMatchObject({ status: "completed", text: "done" });
    expect(lines()).toBe("ran\nsaid\n");
    const store = createRedisStore({ url: server.url });
    onTestFinished(() => store.close?.());
    const entries = (await store.load({ projectKey: "p", sessionId: "s" })) ?? [];
    const results = entries.flatMap(({ message }) => {
      const { role, content } = (message ?? {}) as { role?: string; content?: unknown };
      return role === "toolResult" ? [content] : [];
    });
    expect(results).toEqual([[{ type: "text", text: "before\nwhile\nafter\n" }]]);
    expect(await fleet.resultsOf("s")).toMatchObject([{ status: "completed" }]);
  });
});
