import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RpcClient, type RpcClientOptions } from "@tau-agent/rpc-client";
import type { ManagedPolicy } from "@tau-agent/rpc-protocol";
import { describe, expect, it, onTestFinished } from "vitest";
import { FrameClient } from "../support/frame-client.ts";
import { listeningHost } from "../support/listening-host.ts";
import { makePlace, type PlaceSetup } from "../support/place.ts";
import { call, repositoryPlace, worker } from "../support/repository-place.ts";
import { binPath, runHost, startHost } from "../support/start-host.ts";

const policy: ManagedPolicy = {
  permissions: { mode: "readOnly" },
  tools: { deny: ["write"] },
  extensions: false,
};
const words = ["--policy", JSON.stringify(policy)];
const denied = { success: false, code: "policy_denied" };

/** Checks that each kind of session refuses whatever exceeds the policy. */
async function expectHeld(client: FrameClient, sessionId: string): Promise<void> {
  const ask = (command: object) => client.ask({ ...command, sessionId } as never);
  expect(await ask({ type: "get_permissions" })).toMatchObject({ data: { mode: "readOnly" } });
  expect(await ask({ type: "set_permissions", mode: "all" })).toMatchObject(denied);
  const tool = { name: "write", description: "x", parameters: { type: "object" } };
  expect(await ask({ type: "set_host_tools", tools: [tool] })).toMatchObject(denied);
  expect(await ask({ type: "get_policy" })).toMatchObject({ data: { policy, given: [policy] } });
}

describe("a policy of the command line", () => {
  it.each([
    ["in the host", []],
    ["in a process of its own", ["--isolate", "process"]],
  ])("applies to each of many sessions, %s", async (_where, more) => {
    const { unixUrl } = await listeningHost({ arguments: [...words, ...more] });
    const client = await FrameClient.connect(unixUrl);
    await client.ask({ type: "initialize" });
    expect(await client.ask({ type: "get_policy" })).toMatchObject({ data: { policy } });
    await expectHeld(client, await client.open());
    await expectHeld(client, await client.open());
  });

  it("is read once and also applies to later sessions", async () => {
    const place = makePlace();
    const file = join(place.folder, "policy.json");
    writeFileSync(file, JSON.stringify(policy));
    for (const more of [[], ["--isolate", "process"]]) {
      writeFileSync(file, JSON.stringify(policy));
      const { unixUrl } = await listeningHost({ arguments: ["--policy", file, ...more] });
      const client = await FrameClient.connect(unixUrl);
      await client.ask({ type: "initialize" });
      await client.open();
      writeFileSync(file, "{}");
      await expectHeld(client, await client.open());
    }
    place.remove();
  });

  it.each([
    [
      ["--policy", '{"permisions":{}}'],
      "permisions: there is no such member; the nearest is permissions",
    ],
    [
      ["--policy", '{"permissions":{"rules":[{"tool":"*","action":"allow"}]}}'],
      "permissions.rules[0].action",
    ],
    [["--policy", "nowhere.json"], "nowhere.json"],
    [[...words, "--permission-mode", "all"], "permissions.mode is not allowed here"],
    [[...words, "--tools", "write"], "tools.deny is not allowed here"],
    [[...words, "--policy", '{"models":[]}', "--model", "anthropic/claude-sonnet-5"], "models"],
  ])("prevents the start if %j exceeds it or is invalid", async (given, text) => {
    const setup: PlaceSetup = { arguments: ["-p", "hi", ...given] };
    const { code, stderr } = await runHost(setup);
    expect(code).toBe(1);
    expect(stderr).toContain(text);
  });

  it("is not loosened by the variable that passes a sandbox to subagents", async () => {
    const sandboxed = JSON.stringify({ sandbox: { mode: "workspace" } });
    const { code, stderr } = await runHost({
      arguments: ["-p", "hi", "--policy", sandboxed],
      environment: { TAU_SUBAGENT_SANDBOX: '{"mode":"off"}' },
    });
    expect(code).toBe(1);
    expect(stderr).toContain("sandbox.mode is not allowed here");
  });
});

async function start(options: RpcClientOptions): Promise<RpcClient> {
  const place = makePlace();
  const client = new RpcClient({
    cliPath: binPath,
    cwd: place.cwd,
    env: place.variables,
    ...options,
    args: ["--no-session", "--provider", "scripted", ...(options.args ?? [])],
  });
  onTestFinished(async () => {
    await client.stop();
    place.remove();
  });
  return client.start();
}

describe("a client with a policy", () => {
  it("starts its host with the policy, along with others", async () => {
    const client = await start({ policy: [policy, { models: ["*"] }], args: ["--policy", "{}"] });
    const { policy: held, given } = await client.request("get_policy", {});
    expect(held).toEqual({ ...policy, models: ["*"] });
    expect(given).toHaveLength(3);
  });

  it.each(["{}", JSON.stringify({ ...policy, permissions: { mode: "ask" } })])(
    "refuses a host that runs with %s instead",
    async (other) => {
      const place = makePlace();
      const script = join(place.folder, "wrapper.mjs");
      writeFileSync(script, forgetful(other));
      await expect(start({ policy, command: [process.execPath, script] })).rejects.toMatchObject({
        code: "policy_denied",
      });
      place.remove();
    },
  );
});

describe("a subagent under a policy", () => {
  /** The end of a `task` call whose subagent writes a file with a command. */
  const outcome = async (command: readonly string[] | undefined, held: ManagedPolicy) => {
    const scenario = [
      ...worker("<child>", call("bash", { command: "echo x > made.txt" })),
      ...worker("start", call("task", { task: "<child>" })),
    ];
    const settings = command === undefined ? {} : { "task.command": command };
    const place = repositoryPlace(scenario, settings, ["--policy", JSON.stringify(held)]);
    const host = startHost({}, { place });
    host.send({ type: "prompt", message: "start" });
    const end = await host.until({ "...": true, type: "tool_execution_end" });
    await host.until({ "...": true, type: "prompt_result" });
    const hasWritten = existsSync(join(place.cwd, "made.txt"));
    return { isError: end.isError, text: JSON.stringify(end.result), hasWritten };
  };

  it.each([
    ["a host of its own", undefined],
    ["task.command", [process.execPath, binPath]],
  ])("is subject to it in %s", async (_kind, command) => {
    const free = await outcome(command, {});
    expect(free).toMatchObject({ isError: false, hasWritten: true });
    const held = await outcome(command, {
      permissions: { rules: [{ tool: "bash", action: "deny" }] },
    });
    expect(held).toMatchObject({ isError: false, hasWritten: false });
    const without = await outcome(command, { tools: { deny: ["bash"] } });
    expect(without.hasWritten).toBe(false);
  });

  it("gets no work in a host that does not apply it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tau-policy-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const script = join(folder, "forgetful.mjs");
    writeFileSync(script, forgetful("{}"));
    const { isError, text, hasWritten } = await outcome([process.execPath, script], policy);
    expect(isError).toBe(true);
    expect(text).toContain("does not run with the policy of this client");
    expect(hasWritten).toBe(false);
  });
});

/** A program that starts the host with a different policy. */
function forgetful(other: string): string {
  return `const { argv } = process;
process.argv = argv.map((word, at) => (argv[at - 1] === "--policy" ? ${JSON.stringify(other)} : word));
process.argv[1] = ${JSON.stringify(binPath)};
await import(${JSON.stringify(binPath)});`;
}
