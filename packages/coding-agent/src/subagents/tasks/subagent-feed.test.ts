import { toolCall, turn } from "@tau-agent/ai/testing";
import type { SubagentLevel } from "@tau-agent/rpc-protocol";
import { describe, expect, it } from "vitest";
import { createTestSession } from "../../create/__fixtures__/test-session.ts";

/** The events that a session reports about one subagent with one call. */
async function reports(level: SubagentLevel | undefined) {
  const { session, events } = await createTestSession(({ messages, lastUserText }) => {
    if (lastUserText.includes("look around")) {
      return messages.length === 1 ? turn(toolCall("ls", { path: "." })) : "nothing there";
    }
    const tasks = [{ id: "scout", task: "look around" }];
    return messages.length === 1 ? turn(toolCall("task", { tasks })) : "done";
  });
  if (level !== undefined) await session.setSubagentLevel(level);
  await session.prompt("go");
  return events.flatMap((event) => (event.type === "subagent_event" ? [event] : []));
}

const types = (events: Awaited<ReturnType<typeof reports>>) =>
  events.map(({ event }) => event.type);
const activity = ["agent_start", "tool_execution_start", "tool_execution_end", "agent_end"];

describe("the reported events of a subagent", () => {
  it("are empty by default", async () => {
    expect(await reports(undefined)).toEqual([]);
    expect(await reports("off")).toEqual([]);
  });

  it.each(["activity", "progress"] as const)("are its calls and runs at %s", async (level) => {
    const told = await reports(level);
    expect(types(told)).toEqual(activity);
    expect(new Set(told.map(({ id }) => id))).toEqual(new Set(["scout"]));
  });

  it.each(["all", "events"] as const)(
    "are all events at %s, with replies as deltas",
    async (level) => {
      const told = await reports(level);
      expect(types(told)).toEqual(expect.arrayContaining([...activity, "message_end", "turn_end"]));
      const updates = told.filter(({ event }) => event.type === "message_update");
      expect(updates).not.toEqual([]);
      for (const { event } of updates) {
        expect(event).not.toHaveProperty("message");
        expect(event.assistantMessageEvent).not.toHaveProperty("partial");
      }
    },
  );
});
