import { toolCall, turn } from "@tau-agent/ai/testing";
import type { OpenHostRequest } from "@tau-agent/rpc-protocol";
import { expect, it } from "vitest";
import { takeRewrites } from "../../../../ai/test/stable-prefix.ts";
import { createTestSession } from "../../create/__fixtures__/test-session.ts";
import type { HostToolDefinition } from "../../host-tools/host-tools.ts";
import { project, scenario } from "./__fixtures__/task-call.ts";

const ticket: HostToolDefinition = {
  name: "ticket",
  description: "Looks up a ticket.",
  parameters: { type: "object" },
  readOnly: true,
  subagents: true,
};

/** Runs a task whose agent calls `ticket` twice; returns the client's requests and the session's messages. */
async function run(
  tools: readonly HostToolDefinition[],
  {
    agent = "task",
    onCall,
    active,
  }: { agent?: string; onCall?: () => readonly HostToolDefinition[]; active?: string[] } = {},
) {
  const places = project({
    ".pi/agents/reader.md": "---\ntools: read\n---\n",
    ".pi/agents/clerk.md": "---\ntools: read, tick*\n---\n",
  });
  const calls = turn([toolCall("ticket", {})]);
  const script = scenario(
    { task: "<child>", agent },
    { child: (step) => (step < 2 ? calls : "child done") },
  );
  const test = await createTestSession(script, { ...places, trustProject: true });
  const { session, events } = test;
  const asked: OpenHostRequest[] = [];
  session.requests.attach({
    answers: (method) => method === "host_tool",
    open: (request) => {
      asked.push(request);
      const changed = onCall?.();
      if (changed !== undefined) session.hostTools.set(changed);
      const result = { content: [{ type: "text", text: "It is open." }] };
      queueMicrotask(() => session.requests.answer(request.id, { result: { result } }));
      return true;
    },
    closed: () => {},
  });
  await session.setSubagentLevel("all");
  session.hostTools.set(tools);
  if (active !== undefined) session.tools.activate(active);
  await session.prompt("go");
  const started = events.find(({ type }) => type === "subagent_start");
  const id = started?.type === "subagent_start" ? started.id : undefined;
  return { asked: asked.map(({ agentId }) => agentId), id, text: JSON.stringify(events) };
}

it("lets a subagent in this process call the client's tools under its id", async () => {
  const { asked, id, text } = await run([ticket]);
  expect(id).toMatch(/\w/);
  expect(asked).toEqual([id, id]);
  expect(text).toContain("It is open.");
});

it("gives a subagent no tool that is inactive, not for subagents, or not listed by its agent", async () => {
  const cases = [
    run([{ ...ticket, subagents: false }]),
    run([ticket], { active: ["task", "read"] }),
    run([ticket], { agent: "reader" }),
  ];
  for (const { asked, text } of await Promise.all(cases)) {
    expect(asked).toEqual([]);
    expect(text).toContain("Tool ticket not found");
    // Both subagents have the same task, so rewrites are expected.
    takeRewrites();
  }
  expect((await run([ticket], { agent: "clerk" })).asked).toHaveLength(2);
});

it("replaces a running subagent's tools with the current ones of its caller", async () => {
  const { asked, text } = await run([ticket], { onCall: () => [] });
  expect(asked).toHaveLength(1);
  expect(text).toContain("It is open.");
  expect(text).toContain("Tool ticket not found");
  expect(new Set(takeRewrites())).toEqual(new Set(["the tools"]));
});
