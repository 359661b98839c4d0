import type { HostToolCall, HostToolResult, HostToolUpdate } from "@tau-agent/rpc-protocol";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineTool, HostToolRunner, registerTools } from "./host-tools.ts";

type Sent = HostToolResult | HostToolUpdate;

const call = (toolName: string, args = {}): HostToolCall => ({
  type: "host_tool_call",
  id: `of-${toolName}`,
  toolCallId: "1",
  toolName,
  arguments: args,
});
const tool = (name: string, execute: Parameters<typeof defineTool>[0]["execute"]) =>
  defineTool({ name, description: "", parameters: { type: "object" }, execute });
const register = (runner: HostToolRunner, tools: Parameters<typeof registerTools>[1]) =>
  registerTools(runner, tools, async (given) => ({ toolNames: given.map(({ name }) => name) }));
const text = (said: string) => ({ content: [{ type: "text", text: said }] });

function start() {
  const sent: Sent[] = [];
  return { sent, runner: new HostToolRunner((frame) => sent.push(frame)) };
}

it("replaced tools still answer a reply that had already begun", async () => {
  const { sent, runner } = start();
  await register(runner, [tool("old", async () => "from the old")]);
  await register(runner, [tool("new", async () => "from the new")]);
  await runner.run(call("old"));
  await runner.run(call("new"));
  await runner.run(call("never"));
  expect(sent).toMatchObject([
    { result: text("from the old") },
    { result: text("from the new") },
    { isError: true },
  ]);
});

it("a refused set leaves the earlier tools in place", async () => {
  const { sent, runner } = start();
  await register(runner, [tool("one", async () => "first")]);
  const refused = registerTools(runner, [tool("one", async () => "second")], async () => {
    throw new RangeError("no");
  });
  await expect(refused).rejects.toThrow("no");
  await runner.run(call("one"));
  expect(sent).toMatchObject([{ result: text("first") }]);
});

it("a call that has ended or was cancelled reports nothing more", async () => {
  const { sent, runner } = start();
  let report: (text: string) => void = () => {};
  const finish = Promise.withResolvers<string>();
  await register(runner, [
    tool("quick", async (_, { update }) => {
      report = update;
      return "done";
    }),
    tool("slow", (_, { signal, update }) => {
      report = update;
      signal.addEventListener("abort", () => finish.resolve("too late"));
      return finish.promise;
    }),
  ]);
  await runner.run(call("quick"));
  report("more");
  expect(sent).toMatchObject([{ type: "host_tool_result" }]);
  const running = runner.run(call("slow"));
  await Promise.resolve();
  report("half");
  runner.cancel({ type: "host_tool_cancel", id: "c", targetId: "of-slow" });
  await running;
  report("more");
  expect(sent.slice(1)).toMatchObject([{ type: "host_tool_update", partialResult: text("half") }]);
});

it("arguments that only the schema library rejects cause an error that names them", async () => {
  const { sent, runner } = start();
  const even = defineTool({
    name: "even",
    description: "",
    parameters: z.object({ number: z.number().refine((value) => value % 2 === 0, "must be even") }),
    execute: ({ number }) => `${number}`,
  });
  await register(runner, [even]);
  await runner.run(call("even", { number: 3 }));
  await runner.run(call("even", { number: 4 }));
  expect(sent).toMatchObject([
    { isError: true, result: text("number: must be even") },
    { result: text("4") },
  ]);
});
