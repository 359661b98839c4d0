import { execPath } from "node:process";
import { toolCall } from "@tau-agent/ai/testing";
import { defineTool, RpcClient } from "@tau-agent/rpc-client";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import type { Place } from "../support/place.ts";
import { call, repositoryPlace, worker } from "../support/repository-place.ts";
import { binPath, startHost } from "../support/start-host.ts";

const parameters = { type: "object", properties: { number: { type: "number" } } };
const shared = { name: "ticket", description: "A ticket.", parameters, subagents: true };
const own = { name: "private", description: "Of the session alone.", parameters };
const text = (said: string) => ({ content: [{ type: "text", text: said }] });

/** The inner one of two nested subagents calls both tools. */
const place = (settings: Record<string, unknown> = {}, task: Record<string, unknown> = {}): Place =>
  repositoryPlace(
    [
      {
        when: { lastUserIncludes: "<inner>", hasToolResults: false },
        content: [toolCall("private", {}), toolCall("ticket", { number: 7 })],
      },
      { when: { lastUserIncludes: "<inner>", hasToolResults: true }, content: "<inner> done" },
      ...worker("<outer>", call("task", { tasks: [{ id: "in", task: "<inner>" }] })),
      ...worker("start", call("task", { tasks: [{ id: "out", task: "<outer>" }], ...task })),
    ],
    settings,
  );

describe("a client's tool that is passed to subagents", () => {
  it.each([
    ["in a host of its own", {}, {}],
    ["in a copy of the working tree", {}, { isolated: true }],
    ["in a host that a setting starts", { "task.command": [execPath, binPath] }, {}],
  ])(
    "is called with the ids of the subagents, unlike any other tool: %s",
    async (_, settings, task) => {
      const at = place(settings, task);
      await using client = new RpcClient({
        command: [execPath, binPath],
        cwd: at.cwd,
        env: at.variables,
        args: at.arguments.slice(2),
      });
      onTestFinished(() => at.remove());
      const calls: unknown[] = [];
      const results: unknown[] = [];
      await client.start();
      await client.setSubagentSubscription("all");
      client.onEvent((event) => {
        if (event.type === "subagent_event") results.push(event.event);
      });
      const tools = [shared, own].map((tool) =>
        defineTool({
          ...tool,
          parameters: z.object({ number: z.number().optional() }),
          execute: ({ number }, { agentId }) => {
            calls.push([tool.name, number, agentId]);
            return "It is open.";
          },
        }),
      );
      await client.setHostTools(tools);
      const { status } = await client.promptAndWait("start");
      expect(status).toBe("completed");
      expect(calls).toEqual([["ticket", 7, "out/in"]]);
      const seen = JSON.stringify(results);
      expect(seen).toContain("Tool private not found");
      expect(seen).toContain("It is open.");
    },
  );
});

it("has its call cancelled with the run, and a late result is ignored", async () => {
  const host = startHost({}, { place: place() });
  host.send({ type: "set_host_tools", tools: [shared] });
  host.send({ type: "prompt", message: "start" });
  const { id, agentId } = await host.until({ "...": true, type: "host_tool_call" });
  expect(agentId).toBe("out/in");
  host.send({ type: "get_pending_requests" });
  expect(await host.until({ "...": true, command: "get_pending_requests" })).toMatchObject({
    data: { requests: [{ id, agentId, method: "host_tool" }] },
  });
  host.send({ type: "abort" });
  const cancel = await host.until({ "...": true, type: "host_tool_cancel" });
  expect(cancel.targetId).toBe(id);
  host.send({ type: "host_tool_result", id, result: text("late") });
  expect(await host.until({ "...": true, command: "host_tool_result" })).toMatchObject({
    success: false,
  });
});

describe("a client's URI that a subagent reads and writes", () => {
  const scenario = [
    {
      when: { lastUserIncludes: "<inner>", hasToolResults: false },
      content: [
        toolCall("read", { path: "db://a" }),
        toolCall("write", { path: "db://b", content: "new" }),
        toolCall("read", { path: "db://none" }),
      ],
    },
    { when: { lastUserIncludes: "<inner>", hasToolResults: true }, content: "<inner> done" },
    ...worker("<outer>", call("task", { tasks: [{ id: "in", task: "<inner> db://a" }] })),
  ];

  it.each([
    ["in a host of its own", {}, {}],
    ["in a copy of the working tree", {}, { isolated: true }],
    ["in a host that a setting starts", { "task.command": [execPath, binPath] }, {}],
  ])("is requested from the client: %s", async (_, settings, task) => {
    const starts = call("task", { tasks: [{ id: "out", task: "<outer>" }], ...task });
    const at = repositoryPlace([...scenario, ...worker("start", starts)], settings);
    onTestFinished(() => at.remove());
    await using client = new RpcClient({
      command: [execPath, binPath],
      cwd: at.cwd,
      env: at.variables,
      args: at.arguments.slice(2),
    });
    const written: string[][] = [];
    const results: unknown[] = [];
    await client.start();
    await client.setSubagentSubscription("all");
    client.onEvent((event) => {
      if (event.type === "subagent_event") results.push(event.event);
    });
    const db = {
      scheme: "db",
      read: (url: string, { agentId }: { agentId?: string | undefined }) => {
        expect(agentId).toBe("out/in");
        if (url !== "db://a") throw new Error("no such row");
        return { content: "A row.", notes: ["of today"] };
      },
      write: (url: string, content: string) => void written.push([url, content]),
    };
    expect(await client.setHostUriSchemes([db])).toEqual(["db"]);
    await expect(client.setHostUriSchemes([{ ...db, scheme: "file" }])).rejects.toThrow(
      /schemes\[0\]\.scheme/,
    );
    const { status } = await client.promptAndWait("start");
    expect(status).toBe("completed");
    expect(written).toEqual([["db://b", "new"]]);
    const seen = JSON.stringify(results);
    for (const text of ["A row.", "[of today]", "Cannot read db://none: no such row"]) {
      expect(seen).toContain(text);
    }
  });

  it("has its request cancelled by an abort", async () => {
    const starts = call("task", { tasks: [{ id: "out", task: "<outer>" }] });
    const host = startHost(
      {},
      { place: repositoryPlace([...scenario, ...worker("start", starts)]) },
    );
    host.send({ type: "set_host_uri_schemes", schemes: [{ scheme: "db" }] });
    host.send({ type: "prompt", message: "start" });
    const { id } = await host.until({ "...": true, type: "host_uri_request" });
    host.send({ type: "get_pending_requests" });
    expect(await host.until({ "...": true, command: "get_pending_requests" })).toMatchObject({
      data: { requests: [{ agentId: "out/in", method: "host_uri" }] },
    });
    host.send({ type: "abort" });
    const cancel = await host.until({ "...": true, type: "host_uri_cancel" });
    expect(cancel.targetId).toBe(id);
  });
});
