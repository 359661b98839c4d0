import { describe, expect, it } from "vitest";
import { memoryHost } from "./support/hosts.ts";
import { TestClient } from "./support/test-client.ts";

const bash = (command: string) => ({
  content: [{ type: "toolCall" as const, name: "bash", arguments: { command } }],
});
const setup = {
  title: "",
  requirements: [],
  scenario: [bash("echo one"), bash("echo two"), { content: "done" }],
  files: {
    "agent/settings.json": JSON.stringify({
      "task.budget.maxToolCalls": 1,
      "task.budget.onExceeded": "ask",
    }),
  },
};

async function start(hostRequests?: boolean | string[]): Promise<TestClient> {
  const client = new TestClient(await memoryHost(setup));
  if (hostRequests !== undefined) await client.initialize({ capabilities: { hostRequests } });
  client.send({ type: "prompt", message: "go", id: "p" });
  return client;
}

describe("an exhausted budget over RPC", () => {
  it("asks the client, and the run continues when the budget is raised", async () => {
    await using client = await start(true);
    const { id, ...request } = await client.until({ type: "host_request" });
    expect(request).toMatchObject({
      method: "budget",
      onTimeout: "cancel",
      deadlineAt: expect.any(Number),
      promptId: expect.any(String),
      params: {
        dimension: "tool_calls",
        limit: 1,
        used: 1,
        setting: "task.budget.maxToolCalls",
        scope: "session",
        title: "Budget: 1 of 1 tool calls used. Continue?",
      },
    });
    client.send({ type: "get_state" });
    const state = await client.until({ command: "get_state" });
    expect(state.data).toMatchObject({ isStreaming: true, pendingRequests: [id] });
    client.send({ type: "host_response", id, result: { limit: 2 } });
    expect(await client.until({ type: "host_request_resolved" })).toMatchObject({
      id,
      by: "client",
      outcome: "raised",
    });
    expect(await client.until({ type: "tool_execution_start" })).toMatchObject({
      args: { command: "echo two" },
    });
    expect(await client.until({ type: "prompt_result" })).toMatchObject({ status: "completed" });
    client.send({ type: "get_budget" });
    expect((await client.until({ command: "get_budget" })).data).toMatchObject({
      limits: { maxToolCalls: 2 },
      onExceeded: "ask",
      snapshot: { toolCalls: 2 },
    });
  });

  it("stays open after an invalid answer, whose error is explained", async () => {
    await using client = await start(true);
    const { id } = await client.until({ type: "host_request" });
    for (const answer of [{}, { limit: 1 }, { limit: "9" }, { limit: -1 }, { stop: false }, null]) {
      client.send({ type: "host_response", id, result: answer });
      expect(await client.until({ command: "host_response" })).toMatchObject({
        id,
        success: false,
        code: "invalid_response",
      });
    }
    client.send({ type: "host_response", id, result: { stop: true } });
    expect(await client.until({ type: "host_request_resolved" })).toMatchObject({
      by: "client",
      outcome: "stopped",
    });
    expect(await client.until({ type: "budget_exceeded" })).toMatchObject({ scope: "session" });
    expect(await client.until({ type: "prompt_result" })).toMatchObject({ status: "aborted" });
    client.send({ type: "host_response", id, result: { limit: 5 } });
    expect(await client.until({ command: "host_response" })).toMatchObject({
      code: "request_closed",
    });
    client.send({ type: "prompt", message: "again", id: "q" });
    expect(await client.until({ id: "q" })).toMatchObject({
      success: false,
      code: "budget_exceeded",
    });
  });

  it("can also be answered with set_budget", async () => {
    await using client = await start(true);
    const { id } = await client.until({ type: "host_request" });
    client.send({ type: "set_budget", maxToolCalls: 7, onExceeded: "stop" });
    expect(await client.until({ type: "host_request_resolved" })).toMatchObject({
      id,
      by: "rule",
      outcome: "raised",
    });
    expect((await client.until({ command: "set_budget" })).data).toMatchObject({
      limits: { maxToolCalls: 7 },
      onExceeded: "stop",
    });
    expect(await client.until({ type: "prompt_result" })).toMatchObject({ status: "completed" });
    client.send({ type: "set_budget", onExceeded: "never" });
    expect(await client.until({ command: "set_budget" })).toMatchObject({
      success: false,
      code: "invalid_params",
      error: expect.stringContaining("onExceeded"),
    });
  });

  it.each([
    ["Continue with 2", "completed"],
    ["Stop", "aborted"],
    ["continue", "aborted"],
  ])("is a dialog for a client that knows no host requests: %s", async (value, status) => {
    await using client = await start();
    const dialog = await client.until({ type: "extension_ui_request" });
    expect(dialog).toMatchObject({
      method: "select",
      title: "Budget: 1 of 1 tool calls used. Continue?",
      options: ["Continue with 2", "Stop"],
    });
    client.send({ type: "extension_ui_response", id: dialog.id, value });
    await client.until({ type: "agent_end" });
    client.send({ type: "get_last_assistant_text" });
    const text = (await client.until({ command: "get_last_assistant_text" })).data;
    expect(JSON.stringify(text).includes("done")).toBe(status === "completed");
  });

  it("ends the run at once if the client has not declared budget requests", async () => {
    await using client = await start(["tool_approval"]);
    expect(await client.until({ type: "prompt_result" })).toMatchObject({ status: "aborted" });
  });

  it("closes its request on an abort and on a change of session", async () => {
    await using client = await start(true);
    await client.until({ type: "host_request" });
    client.send({ type: "abort" });
    expect(await client.until({ type: "host_request_resolved" })).toMatchObject({
      by: "abort",
      outcome: "stopped",
    });
    await client.until({ type: "agent_settled" });
    client.send({ type: "prompt", message: "again", id: "q" });
    await client.until({ type: "host_request" });
    client.send({ type: "new_session" });
    expect(await client.until({ type: "host_request_resolved" })).toMatchObject({
      by: "end",
      outcome: "stopped",
    });
    client.send({ type: "get_budget" });
    expect((await client.until({ command: "get_budget" })).data).toMatchObject({
      snapshot: { toolCalls: 0, status: "ok" },
    });
  });
});
