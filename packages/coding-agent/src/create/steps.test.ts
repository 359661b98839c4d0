import { toolCall, turn } from "@tau-agent/ai/testing";
import { expect, it } from "vitest";
import { createTestSession } from "./__fixtures__/test-session.ts";

const look = () => turn(toolCall("ls", {}));
const results = (events: readonly { readonly type: string }[]) =>
  events.filter(({ type }) => type === "prompt_result");

it("pauses a prompt after its limit of turns, and counts from 0 again after resuming", async () => {
  const scenario = [look(), look(), look(), "done"];
  const { session, events } = await createTestSession(scenario);
  const until = { turns: 2 };
  const first = await session.prompt("go", { promptId: "p1", until });
  expect(first).toMatchObject({ status: "paused", pausedBy: "turns", promptId: "p1" });
  expect(session.state).toMatchObject({ isStreaming: false, pausedPromptId: "p1" });
  const second = await session.resume("p1", { until: { turns: 1 } });
  expect(second).toMatchObject({ status: "paused", pausedBy: "turns" });
  const last = await session.resume("p1");
  expect(last).toMatchObject({ status: "completed", text: "done" });
  expect(session.state.pausedPromptId).toBeUndefined();
  expect(results(events)).toMatchObject([
    { status: "paused", pausedBy: "turns" },
    { status: "paused", pausedBy: "turns" },
    { status: "completed" },
  ]);
});

it("does not pause a prompt that is done when it reaches the limit", async () => {
  const { session } = await createTestSession([look(), "done"]);
  expect(await session.prompt("go", { until: { turns: 2 } })).toMatchObject({
    status: "completed",
  });
});

it("keeps queued messages while a prompt is paused, and ends the prompt when another begins", async () => {
  const { session, events } = await createTestSession([look(), "second", "queued"], {
    maxTurns: 1,
  });
  const paused = await session.prompt("go", { promptId: "p1" });
  expect(paused).toMatchObject({ status: "paused", pausedBy: "max_turns" });
  expect(await session.prompt("other", { promptId: "p2" })).toMatchObject({ status: "completed" });
  expect(results(events)).toMatchObject([
    { status: "paused" },
    { status: "aborted" },
    { status: "completed" },
  ]);
  await expect(session.resume("p1")).rejects.toMatchObject({ code: "prompt_not_paused" });
});

it("begins no tool and no reply after a prompt's time limit, and begins them after resuming", async () => {
  const wait = toolCall("bash", { command: "sleep 0.3; echo a >> log" });
  const next = toolCall("bash", { command: "echo b >> log; cat log" });
  const { session } = await createTestSession([turn([wait, next]), "done"]);
  const first = await session.prompt("go", { promptId: "p1", until: { ms: 100 } });
  expect(first).toMatchObject({ status: "paused", pausedBy: "ms" });
  const told = session.messages.filter(({ role }) => role === "toolResult");
  expect(told).toHaveLength(1);
  const last = await session.resume("p1");
  expect(last).toMatchObject({ status: "completed", text: "done" });
  const outputs = session.messages.filter(({ role }) => role === "toolResult");
  expect(JSON.stringify(outputs[1])).toContain("a\\nb\\n");
});
