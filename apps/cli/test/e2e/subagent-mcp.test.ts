import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { toolCall } from "@tau-agent/ai/testing";
import { RpcClient } from "@tau-agent/rpc-client";
import { describe, expect, it, onTestFinished } from "vitest";
import { call, repositoryPlace, worker } from "../support/repository-place.ts";
import { binPath } from "../support/start-host.ts";

const program = fileURLToPath(
  new URL("../../../../packages/mcp/src/__fixtures__/stdio-server.ts", import.meta.url),
);
const behaviour = JSON.stringify({ tools: [{ name: "echo", inputSchema: { type: "object" } }] });
const entry = { command: execPath, args: [program, behaviour], exposure: "direct" };
const names = ["file", "other", "mine", "alien"];
const calls = names.map((name) => toolCall(`mcp__${name}__echo`, { message: name }));

/** Two subagents that try every server; the profile of the second allows none. */
const scenario = [
  ...worker("<named>", calls),
  ...worker("<unnamed>", calls),
  ...worker(
    "start",
    call("task", {
      tasks: [
        { id: "a", task: "<named>", agent: "helper" },
        { id: "b", task: "<unnamed>", agent: "plain" },
      ],
    }),
  ),
];

async function resultsOf(
  settings: Record<string, unknown>,
  change: (client: RpcClient) => Promise<unknown>,
): Promise<Record<string, string[]>> {
  const place = repositoryPlace(scenario, settings);
  onTestFinished(() => place.remove());
  const agent = join(place.folder, "agent");
  mkdirSync(join(agent, "agents"));
  const head = "description: Helps\n";
  writeFileSync(
    join(agent, "agents", "helper.md"),
    `---\nname: helper\n${head}mcpServers: file, mine\n---\nHelp.`,
  );
  writeFileSync(join(agent, "agents", "plain.md"), `---\nname: plain\n${head}---\nHelp.`);
  const mcpServers = { file: entry, other: entry };
  writeFileSync(join(agent, "mcp.json"), JSON.stringify({ mcpServers }));
  await using client = new RpcClient({
    command: [execPath, binPath],
    cwd: place.cwd,
    env: place.variables,
    args: place.arguments.slice(2),
  });
  await client.start();
  await client.setSubagentSubscription("all");
  const results: Record<string, string[]> = { a: [], b: [] };
  client.onEvent((event) => {
    if (event.type !== "subagent_event") return;
    const { message } = Object(event.event) as { message?: unknown };
    const { role, content } = Object(message) as { role?: string; content?: { text: string }[] };
    if (event.event.type !== "message_end" || role !== "toolResult") return;
    results[event.id]?.push(content?.[0]?.text ?? "");
  });
  await change(client);
  const { status } = await client.promptAndWait("start");
  expect(status).toBe("completed");
  return results;
}

const missing = (name: string) => expect.stringContaining(`Tool mcp__${name}__echo not found`);

describe("a subagent gets only the MCP servers that its profile names", () => {
  it.each([
    ["in a host of its own", {}],
    ["in a host that a setting starts", { "task.command": [execPath, binPath] }],
  ])("%s", async (_, settings) => {
    const results = await resultsOf(settings, (client) =>
      client.setMcpServers({ mine: entry, alien: entry }),
    );
    expect(results.a).toEqual(["echo: file", missing("other"), "echo: mine", missing("alien")]);
    expect(results.b).toEqual(names.map(missing));
  });

  it("loses the servers of the files once its caller has stopped them", async () => {
    const results = await resultsOf({}, async (client) => {
      await client.setMcpServers({});
      await client.setMcpServers({ mine: entry });
    });
    expect(results.a).toEqual([missing("file"), missing("other"), "echo: mine", missing("alien")]);
  });
});
