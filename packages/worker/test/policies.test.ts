import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeWith } from "../../../scripts/testing/describe-with.ts";
import { RedisServer, redisIsMissing } from "../../store-redis/test/redis-server.ts";
import { testFleet } from "./test-fleet.ts";

const policy = {
  permissions: { mode: "ask" },
  tools: { deny: ["edit"] },
  models: ["scripted/*"],
  mcpServers: [],
  extensions: false,
};
const call = { type: "toolCall", name: "bash", arguments: { command: "touch made.txt" } };
/** A shell command for each prompt, then an answer. */
const scenario = [
  { repeat: true, when: { hasToolResults: false }, content: [call] },
  { repeat: true, content: "done" },
];

describeWith(redisIsMissing)("a worker with a policy", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterAll(async () => {
    await redis[Symbol.asyncDispose]();
  });

  /** A worker whose hosts work in a folder with a stranger's files, which ask for more rights. */
  async function fleet(given: object) {
    const own = testFleet({
      redisUrl: redis.url,
      scenario,
      settings: { permissions: { mode: "all" }, defaultProjectTrust: "always" },
    });
    const { folder, project } = own;
    const files = {
      "company.json": JSON.stringify(given),
      "project/company.json": "{}",
      "project/.pi/settings.json": JSON.stringify({
        permissions: { mode: "all", rules: [{ tool: "*", action: "allow" }] },
        defaultTools: ["edit", "bash"],
      }),
      "project/.mcp.json": JSON.stringify({
        mcpServers: { one: { command: "touch", args: ["server.txt"] } },
      }),
      "project/.pi/extensions/loose.ts":
        'import { writeFileSync } from "node:fs"; writeFileSync("extension.txt", ""); export default () => {};',
    };
    mkdirSync(join(project, ".pi", "extensions"), { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    await own.start([], ["--approve", "--policy", "company.json"], {
      TAU_SUBAGENT_SANDBOX: JSON.stringify({ mode: "off" }),
    });
    // The worker read the policy at its start, so later changes of the file have no effect.
    writeFileSync(join(folder, "company.json"), "{}");
    const has = (name: string) => existsSync(join(project, name));
    return { ...own, has };
  }

  test("does what the project and the job ask for if there are no limits", async () => {
    const { add, ends, has } = await fleet({});
    const job = await add({ sessionId: "free", projectKey: "p", message: "go" }, "free-1");
    expect(await job.waitUntilFinished(ends, 60_000)).toMatchObject({ status: "completed" });
    expect([has("made.txt"), has("extension.txt")]).toEqual([true, true]);
  });

  test("enforces the policy against settings, projects, commands and answers", async () => {
    const { add, ends, has, seen, framesOf, control } = await fleet(policy);
    const job = await add({ sessionId: "held", projectKey: "p", message: "go" }, "held-1");
    await seen("held", "host_request");
    const commands = {
      mode: { type: "set_permissions", mode: "all" },
      rules: { type: "set_permissions", rules: [{ tool: "*", action: "allow" }] },
      servers: {
        type: "set_mcp_servers",
        servers: { two: { command: "touch", args: ["two.txt"] } },
      },
      tools: {
        type: "set_host_tools",
        tools: [{ name: "edit", description: "x", parameters: { type: "object" } }],
      },
      policy: { type: "get_policy" },
    };
    for (const [id, command] of Object.entries(commands)) await control("held", { ...command, id });
    const answers = async () =>
      (await framesOf("held")).filter(({ type, id }) => type === "response" && id !== undefined);
    await expect.poll(async () => (await answers()).length).toBe(5);
    for (const { id, success, code, data } of await answers()) {
      if (id === "policy") expect(data).toMatchObject({ policy, given: [policy] });
      // Rules next to the mode are accepted, but have no effect.
      else if (id !== "rules")
        expect({ id, success, code }).toMatchObject({ success: false, code: "policy_denied" });
    }
    expect(has("made.txt")).toBe(false);
    const questions = async () =>
      (await framesOf("held")).filter(({ type }) => type === "host_request");
    const [asked] = await questions();
    const always = { decision: "allow", scope: "always", saveTo: "user" };
    await control("held", { type: "host_response", id: asked?.id, result: always });
    await expect
      .poll(async () => JSON.stringify(await framesOf("held")))
      .toContain("host_response");
    expect(has("made.txt")).toBe(false);
    await control("held", { type: "host_response", id: asked?.id, result: { decision: "deny" } });
    expect(await job.waitUntilFinished(ends, 60_000)).toMatchObject({ status: "completed" });
    expect(["made.txt", "extension.txt", "server.txt", "two.txt"].filter(has)).toEqual([]);
  });

  test("refuses a job that names another model", async () => {
    const { add, ends, has } = await fleet({ ...policy, models: ["openai/*"] });
    const job = await add({ sessionId: "model", projectKey: "p", message: "go" }, "model-1");
    await expect(job.waitUntilFinished(ends, 100_000)).rejects.toThrow(/model/);
    expect(has("made.txt")).toBe(false);
  });
});
