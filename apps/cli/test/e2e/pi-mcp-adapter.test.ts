import { readFileSync, writeFileSync } from "node:fs";
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
const adapter = fileURLToPath(import.meta.resolve("pi-mcp-adapter"));

it("the published pi-mcp-adapter works alongside the host's own servers, in both of its sessions", async () => {
  const calls = [
    toolCall("mcp", { tool: "docs_echo", args: '{"message":"through the adapter"}' }),
    toolCall("mcp__docs__echo", { message: "through the host" }),
  ];
  const place = makePlace({
    scenario: [
      { repeat: true, when: { hasToolResults: false }, content: calls },
      { repeat: true, when: { hasToolResults: true }, content: "done" },
    ],
    arguments: ["--extension", adapter],
    files: { "agent/settings.json": "{}" },
  });
  onTestFinished(() => place.remove());
  const log = join(place.folder, "log");
  const behaviour = { tools: [{ name: "echo", inputSchema: { type: "object" } }], log };
  const docs = { command: execPath, args: [server, JSON.stringify(behaviour)] };
  await using client = new RpcClient({
    command: [execPath, binPath],
    cwd: place.cwd,
    env: place.variables,
    args: place.arguments.slice(2),
  });
  writeFileSync(join(place.folder, "agent", "mcp.json"), JSON.stringify({ mcpServers: { docs } }));
  await client.start();
  const results: unknown[] = [];
  client.onEvent((event) => {
    if (event.type === "tool_execution_end") results.push(event.result.content);
  });
  const text = (said: string) => [{ type: "text", text: said }];
  const expected = [text("echo: through the adapter"), text("echo: through the host")];
  expect((await client.promptAndWait("go")).status).toBe("completed");
  expect(results).toEqual(expected);
  // New instances of the extension for the same servers.
  await client.newSession();
  expect((await client.promptAndWait("go")).status).toBe("completed");
  expect(results).toEqual([...expected, ...expected]);
  await client.stop();
  const started = [...readFileSync(log, "utf8").matchAll(/^start (\d+)$/gm)];
  expect(started.length).toBeGreaterThan(1);
  expect(
    await areGone(
      started.map(([, pid]) => Number(pid)),
      10_000,
    ),
  ).toBe(true);
});
