import { toolCall, turn } from "@tau-agent/ai/testing";
import { expect, it } from "vitest";
import {
  createTestSession,
  eventOf,
  isType,
  userTexts,
} from "../../create/__fixtures__/test-session.ts";

it("keeps prompts that are queued when a budget runs out in the conversation, and ends them with the reason", async () => {
  let readBy: string[] = [];
  const test = await createTestSession(({ index, messages }) => {
    readBy = userTexts(messages);
    return index === 0 ? turn([toolCall("ls", {})], { usage: { input: 500 } }) : "reply";
  });
  const { session } = test;
  session.budget.setLimits({ maxInputTokens: 100 });
  const first = await session.submit("first");
  await eventOf(test, isType("agent_start"));
  const queued = [
    await session.steer("second"),
    await session.submit("third", { id: "3", streamingBehavior: "followUp" }),
  ];
  expect(await first.result).toMatchObject({ status: "aborted", code: "budget_exceeded" });
  for (const { result } of queued) {
    expect(await result).toMatchObject({
      status: "error",
      code: "budget_exceeded",
      error: expect.stringMatching(/500 of 100/),
    });
  }
  expect(test.events.findLast(isType("prompt_result"))).toMatchObject({
    id: "3",
    status: "error",
    code: "budget_exceeded",
  });
  expect(session.state.pendingMessageCount).toBe(0);
  session.budget.setLimits({ maxInputTokens: 10_000 });
  await session.prompt("go on");
  expect(readBy.map((text) => text.split("\n")[0])).toEqual(["first", "second", "third", "go on"]);
});

it("distinguishes a prompt that a budget stopped from one that was aborted", async () => {
  const call = () => turn([toolCall("bash", { command: "sleep 5" })], { usage: { input: 500 } });
  const test = await createTestSession(call);
  const { session, events } = test;
  const aborted = await session.submit("first");
  await eventOf(test, isType("tool_execution_start"));
  await session.abort();
  expect(await aborted.result).not.toHaveProperty("code");
  session.budget.setLimits({ maxInputTokens: 700 });
  expect(await session.prompt("second")).toMatchObject({
    status: "aborted",
    code: "budget_exceeded",
  });
  const results = events.flatMap((event) =>
    event.type === "prompt_result" ? [[event.status, event.code]] : [],
  );
  expect(results).toEqual([
    ["aborted", undefined],
    ["aborted", "budget_exceeded"],
  ]);
});
