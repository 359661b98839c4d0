import { toolCall, turn } from "@tau-agent/ai/testing";
import type { TestHost } from "@tau-agent/conformance";
import { expect, it } from "vitest";
import { memoryHost } from "./support/hosts.ts";

/** The first call ends only when the second has run, so sequential execution would never end. */
const reply = turn([
  toolCall("bash", { command: "while [ ! -e b ]; do sleep 0.02; done; rm b" }, { id: "a" }),
  toolCall("bash", { command: "touch b" }, { id: "b" }),
]);

async function until(host: TestHost, isIt: (frame: Record<string, unknown>) => boolean) {
  for (let frame = await host.next(); frame !== undefined; frame = await host.next()) {
    if (isIt(frame)) return frame;
  }
  throw new Error("the host ended");
}

it.each([
  ["the flag", ["--tool-execution", "parallel"], []],
  ["the command", [], [{ id: "1", type: "set_tool_execution", mode: "parallel" }]],
])("runs calls in parallel when %s says so", async (_, args, commands) => {
  await using host = await memoryHost({
    title: "",
    requirements: [],
    arguments: args,
    scenario: [reply, "done"],
  });
  for (const command of commands) host.send(JSON.stringify(command));
  host.send(JSON.stringify({ id: "s", type: "get_state" }));
  const { data } = await until(host, ({ id }) => id === "s");
  expect(data).toMatchObject({ toolExecution: "parallel" });
  host.send(JSON.stringify({ type: "prompt", message: "go" }));
  const ends: unknown[] = [];
  await until(host, ({ type, toolCallId }) => {
    if (type === "tool_execution_end") ends.push(toolCallId);
    return type === "agent_end";
  });
  expect(ends.sort()).toEqual(["a", "b"]);
});

it("refuses an unknown mode by name", async () => {
  await using host = await memoryHost({ title: "", requirements: [] });
  host.send(JSON.stringify({ id: "1", type: "set_tool_execution", mode: "all" }));
  expect(await until(host, ({ id }) => id === "1")).toMatchObject({
    success: false,
    error: expect.stringContaining("mode"),
  });
});
