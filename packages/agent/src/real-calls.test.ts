import { text, toolCall, turn } from "@tau-agent/ai/testing";
import type { AssistantMessage } from "@tau-agent/rpc-protocol/messages";
import { expect, it } from "vitest";
import { createTestAgent, ok, resultTexts, tool, user } from "./__fixtures__/test-agent.ts";
import type { ResolveToolCall } from "./loop/real-calls.ts";

const list = tool("list", async ({ folder }) => ok(`listed ${String(folder)}`));

/** Maps `Dir` with `where` to the tool `list` with `folder`. */
const resolveToolCall: ResolveToolCall = (call) => {
  if (call.name !== "Dir") return call;
  const { where } = call.arguments;
  return {
    ...call,
    name: "list",
    arguments: where === undefined ? call.arguments : { folder: where },
  };
};

const calls = ({ content }: AssistantMessage) =>
  content.flatMap((block) => (block.type === "toolCall" ? [block] : []));

it("gives every event, record and hook the real name and arguments of a call", async () => {
  const hooked: unknown[] = [];
  const { agent, events, recorded } = createTestAgent(
    ({ toolResults }) =>
      toolResults.length > 0
        ? "done"
        : turn([text("look"), toolCall("Dir", { where: "src" }), toolCall("Dir", { where: "b" })]),
    {
      tools: [list],
      resolveToolCall,
      hooks: {
        beforeToolCall: async (call) => {
          hooked.push([call.name, call.arguments]);
          return undefined;
        },
      },
    },
  );
  await agent.run([user("go")]);

  expect(Object.values(resultTexts(agent.messages))).toEqual(["listed src", "listed b"]);
  expect(hooked[0]).toEqual(["list", { folder: "src" }]);
  const reply = recorded.find((message) => message.role === "assistant");
  if (reply?.role !== "assistant") expect.unreachable();
  expect(calls(reply).map(({ name, arguments: args }) => [name, args])).toEqual([
    ["list", { folder: "src" }],
    ["list", { folder: "b" }],
  ]);
  const started = events.find(({ type }) => type === "tool_execution_start");
  expect(started).toMatchObject({ toolName: "list", args: { folder: "src" } });
  const steps = events.flatMap((event) =>
    event.type === "message_update" ? [event.assistantMessageEvent] : [],
  );
  expect(steps.find(({ type }) => type === "toolcall_start")).toMatchObject({ toolName: "list" });
  expect(steps.findLast(({ type }) => type === "toolcall_end")).toMatchObject({
    toolCall: { name: "list", arguments: { folder: "b" } },
    partial: { content: [{}, { arguments: { folder: "src" } }, { arguments: { folder: "b" } }] },
  });
  // Only streaming arguments show the model's own text.
  expect(JSON.stringify(events)).not.toContain('"Dir"');
});

it("leaves a reply unchanged if its calls need no change", async () => {
  const { agent, events } = createTestAgent(
    ({ toolResults }) =>
      toolResults.length > 0 ? "done" : turn([toolCall("list", { folder: "src" })]),
    { tools: [list], resolveToolCall },
  );
  await agent.run([user("go")]);
  expect(Object.values(resultTexts(agent.messages))).toEqual(["listed src"]);
  const steps = events.flatMap((event) =>
    event.type === "message_update" ? [event.assistantMessageEvent.type] : [],
  );
  expect(steps).toContain("toolcall_end");
});

it("gives a call with a reused id a new one, even after a compaction", async () => {
  const looksInto = (folder: string) =>
    turn([{ ...toolCall("list", { folder }), id: "call_0|item_0" }]);
  const turns = [looksInto("a"), looksInto("b"), "done", looksInto("c"), "done"];
  const { agent, events, recorded } = createTestAgent(() => turns.shift() ?? "done", {
    tools: [list],
  });
  await agent.run([user("go")]);
  agent.replaceMessages([user("What was done before")]);
  await agent.run([user("go on")]);

  const made = recorded.flatMap((message) =>
    message.role === "assistant" ? calls(message).map(({ id }) => id) : [],
  );
  expect(made).toEqual(["call_0|item_0", "call_0_2|item_0", "call_0_3|item_0"]);
  const results = recorded.flatMap((message) =>
    message.role === "toolResult" ? [message.toolCallId] : [],
  );
  expect(results).toEqual(made);
  const steps = events.flatMap((event) =>
    event.type === "message_update" && event.assistantMessageEvent.type === "toolcall_start"
      ? [event.assistantMessageEvent]
      : [],
  );
  expect(steps.map(({ id }) => id)).toEqual(made);
  expect(steps.map(({ partial }) => calls(partial).map(({ id }) => id))).toEqual(
    made.map((id) => [id]),
  );
});
