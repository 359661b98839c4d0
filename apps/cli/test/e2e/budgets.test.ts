import { existsSync } from "node:fs";
import { join } from "node:path";
import { type BudgetRequest, RpcClient } from "@tau-agent/rpc-client";
import { describe, expect, it, onTestFinished } from "vitest";
import { call, repositoryPlace, worker } from "../support/repository-place.ts";
import { binPath } from "../support/start-host.ts";

const tasks = ["a", "b"].map((id) => ({ id, task: `<${id}>` }));
const bash = (command: string) => ({
  type: "toolCall" as const,
  name: "bash",
  arguments: { command },
});
const turns = [
  ...worker("<a>", [bash("touch a.txt"), bash("touch a2.txt")]),
  ...worker("<b>", call("bash", { command: "touch b.txt" })),
  ...worker("start", call("task", { tasks })),
];

async function start(options: Partial<ConstructorParameters<typeof RpcClient>[0]>) {
  const settings = { "task.budget.maxToolCalls": 2 };
  const place = repositoryPlace(turns, settings, ["--no-session"]);
  const client = new RpcClient({
    ...options,
    cliPath: binPath,
    cwd: place.cwd,
    env: place.variables,
    args: place.arguments.slice(2),
  });
  onTestFinished(async () => {
    await client.stop();
    place.remove();
  });
  await client.start();
  await client.setBudget({ onExceeded: "ask" });
  const made = () => ["a", "a2", "b"].map((name) => existsSync(join(place.cwd, `${name}.txt`)));
  return { client, made };
}

describe("the budget of subagents in their own processes", () => {
  it("asks a client's function once, then all of them continue", async () => {
    const asked: BudgetRequest[] = [];
    const { client, made } = await start({
      raiseBudget: (request) => {
        asked.push(request);
        return { limit: 50 };
      },
    });
    expect((await client.promptAndWait("start")).status).toBe("completed");
    expect(asked).toMatchObject([{ dimension: "tool_calls", limit: 2, scope: "session" }]);
    expect(asked[0]?.agentId).toMatch(/^[ab]$/);
    expect(made()).toEqual([true, true, true]);
    expect((await client.getBudget()).limits).toEqual({ maxToolCalls: 50 });
  });

  it("is shown as a select dialog without a function, and a no stops the run", async () => {
    const titles: string[] = [];
    const { client, made } = await start({
      ui: {
        select: async ({ title, options }) => {
          titles.push(title);
          return options[1];
        },
      },
    });
    expect((await client.promptAndWait("start")).status).toBe("aborted");
    expect(titles).toHaveLength(1);
    expect(titles[0]).toMatch(/^Budget \(agent [ab]\): 2 of 2 tool calls used/);
    expect(made()).toContain(false);
  });
});
