import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { toolCall } from "@tau-agent/ai/testing";
import { RpcClient } from "@tau-agent/rpc-client";
import { expect, it, onTestFinished } from "vitest";
import { makePlace } from "../support/place.ts";
import { areGone, binPath } from "../support/start-host.ts";

const server = fileURLToPath(
  new URL("../../../../packages/mcp/src/__fixtures__/stdio-server.ts", import.meta.url),
);
const tools = (...names: string[]) =>
  names.map((name) => ({ name, description: `Does ${name}`, inputSchema: { type: "object" } }));
const many = Array.from({ length: 500 }, (_, index) => `tool_${index}`);

/** The behaviour of each server; all but the last misbehave. */
const behaviours = {
  floods: { first: "flood" },
  endless: { first: "endless" },
  rubbish: { first: "rubbish", tools: tools("echo") },
  silent: { silent: ["initialize"] },
  mute: { silent: ["tools/list"] },
  exits: { first: "exit" },
  names: { tools: [...tools("ünï/cødé", "a b", "x".repeat(200)), { name: 7 }, "no tool", null] },
  twins: { tools: tools("same", "same", "sa-me", "sa.me") },
  many: { tools: tools(...many) },
  works: { tools: tools("big", "die", "change", "echo", "hang") },
};

it("a host with hostile servers still answers, calls the others and ends all of them with itself", async () => {
  const call = (name: string, args: Record<string, unknown> = {}) =>
    toolCall(`mcp__works__${name}`, args);
  const place = makePlace({
    scenario: [
      {
        when: { lastUserIncludes: "first", hasToolResults: false },
        content: [call("big", { kilobytes: 20_000 }), call("change"), call("hang"), call("die")],
      },
      { when: { lastUserIncludes: "first", hasToolResults: true }, content: "first done" },
      {
        when: { lastUserIncludes: "second", hasToolResults: false },
        content: [call("echo", { message: "still here" })],
      },
      { when: { lastUserIncludes: "second", hasToolResults: true }, content: "second done" },
    ],
    files: { "agent/settings.json": "{}" },
  });
  onTestFinished(() => place.remove());
  const log = join(place.folder, "log");
  const mcpServers = Object.fromEntries(
    Object.entries(behaviours).map(([name, behaviour]) => {
      const args = [server, JSON.stringify({ ...behaviour, log })];
      // Silent servers time out quickly; the others get more time for a busy machine.
      const timeout = name === "silent" || name === "mute" ? 1 : 120;
      const exposure = name === "works" ? { exposure: "direct" } : {};
      return [name, { command: execPath, args, timeout, ...exposure }];
    }),
  );
  Object.assign(mcpServers.works ?? {}, { timeout: 10 });
  writeFileSync(join(place.folder, "agent", "mcp.json"), JSON.stringify({ mcpServers }));
  await using client = new RpcClient({
    command: [execPath, binPath],
    cwd: place.cwd,
    env: place.variables,
    args: place.arguments.slice(2),
  });
  await client.start();
  const results: { isError: boolean; text: string }[] = [];
  client.onEvent((event) => {
    if (event.type !== "tool_execution_end") return;
    const [block] = event.result.content;
    results.push({ isError: event.isError, text: block?.type === "text" ? block.text : "" });
  });
  expect((await client.promptAndWait("first")).status).toBe("completed");
  const [big, changed, hung, died] = results;
  expect(big?.text.length).toBeLessThan(100_000);
  const [, path = ""] = /all of it is in (\S+)/.exec(big?.text ?? "") ?? [];
  expect(statSync(path).size).toBe(20_000_000);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(changed?.text).toBe("changed");
  expect(hung).toMatchObject({ isError: true, text: expect.stringContaining("did not answer") });
  expect(died).toMatchObject({ isError: true, text: expect.stringContaining("was lost") });
  const stateOf = async (name: string) =>
    (await client.getMcpServers()).servers.find((one) => one.name === name);
  await expect.poll(async () => (await stateOf("works"))?.status).toBe("connected");
  expect((await client.promptAndWait("second")).status).toBe("completed");
  expect(results.at(-1)?.text).toBe("echo: still here");
  expect((await stateOf("rubbish"))?.status).toBe("connected");
  const names = (await stateOf("names"))?.tools.map(({ name }) => name) ?? [];
  expect(names).toHaveLength(3);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  const twins = (await stateOf("twins"))?.tools.map(({ name }) => name) ?? [];
  expect(new Set(twins).size).toBe(3);
  expect((await stateOf("many"))?.tools).toHaveLength(500);
  for (const name of ["floods", "endless", "exits", "silent", "mute"]) {
    expect([name, (await stateOf(name))?.status]).not.toEqual([name, "connected"]);
  }
  await client.stop();
  const started = [...readFileSync(log, "utf8").matchAll(/^start (\d+)$/gm)];
  expect(await areGone(started.map(([, pid]) => Number(pid)))).toBe(true);
});
