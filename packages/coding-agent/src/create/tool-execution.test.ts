import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentTool, defineTool } from "@tau-agent/agent";
import { toolCall, turn } from "@tau-agent/ai/testing";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import { SettingsStore } from "@tau-agent/system";
import { expect, it } from "vitest";
import type { SettingValues } from "../../../system/src/settings/schema.ts";
import { createTestSession, placesIn, temporaryFolder } from "./__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "./options/session-options.ts";

/** Plays a reply with these calls, and returns the starts and ends of the calls, and the folder. */
async function play(
  calls: readonly ReturnType<typeof toolCall>[],
  settings: SettingValues = {},
  overrides: Partial<CreateAgentSessionOptions> = {},
) {
  const places = placesIn(temporaryFolder());
  writeFileSync(join(places.cwd, "notes.txt"), "one\n");
  const test = await createTestSession([turn([...calls]), "done"], {
    ...places,
    settings: SettingsStore.inMemory(settings),
    ...overrides,
  });
  await test.session.prompt("go");
  return { ...test, order: test.events.flatMap(stepOf), cwd: places.cwd };
}

function stepOf(event: SessionEvent): string[] {
  if (event.type === "tool_execution_start") return [`${event.toolCallId} begins`];
  if (event.type === "tool_execution_end") return [`${event.toolCallId} ends`];
  return [];
}

const bash = (id: string, command: string) => toolCall("bash", { command }, { id });
const inTurn = ["a begins", "a ends", "b begins", "b ends"];

it("runs read-only bash commands in parallel with adjacent calls", async () => {
  const read = toolCall("read", { path: "notes.txt" }, { id: "b" });
  const { order } = await play([bash("a", "git status; ls | head"), read, bash("c", "cat x")]);
  expect(order.slice(0, 3)).toEqual(["a begins", "b begins", "c begins"]);
});

it.each([
  ["a line that may write", [bash("a", "true > f"), bash("b", "ls")], {}],
  ["a prefix that may write", [bash("a", "pwd"), bash("b", "ls")], { shellCommandPrefix: "x=1" }],
  ["another kind of shell", [bash("a", "pwd"), bash("b", "ls")], { shellPath: "/usr/bin/env" }],
  ["the shell of macOS", [bash("a", "pwd"), bash("b", "ls")], { shellPath: "/bin/zsh" }],
])("runs calls in order because of %s", async (_, calls, settings) => {
  expect((await play(calls, settings)).order).toEqual(inTurn);
});

const waits = [bash("a", "while [ ! -e b ]; do sleep 0.02; done; rm b"), bash("b", "touch b")];

it.each([
  ["the setting", { toolExecution: "parallel" }, {}],
  ["the option", {}, { toolExecution: "parallel" }],
  ["the option, not the setting,", { toolExecution: "sequential" }, { toolExecution: "parallel" }],
] as const)("starts all calls together if %s says so", async (_, settings, overrides) => {
  const { order, session } = await play(waits, settings, overrides);
  expect(order.slice(0, 2)).toEqual(["a begins", "b begins"]);
  expect(order.slice(2).sort()).toEqual(["a ends", "b ends"]);
  expect(session.state.toolExecution).toBe("parallel");
});

it("keeps the order of calls that write one file, by whatever path", async () => {
  const calls = [
    toolCall("write", { path: "notes.txt", content: "two\n" }, { id: "a" }),
    toolCall("edit", { path: "./sub/../notes.txt", oldText: "two", newText: "three" }, { id: "b" }),
    toolCall("write", { path: "other.txt", content: "x" }, { id: "c" }),
    toolCall("edit", { path: "@notes.txt", oldText: "three", newText: "four" }, { id: "d" }),
  ];
  const { cwd, session } = await play(calls, { toolExecution: "parallel" });
  const results = session.messages.filter(({ role }) => role === "toolResult");
  expect(results).toMatchObject(
    Array.from("abcd", (toolCallId) => ({ toolCallId, isError: false })),
  );
  expect(readFileSync(join(cwd, "notes.txt"), "utf8")).toBe("four\n");
});

it.each([
  ["of defineTool", defineTool],
  ["that is plain", (tool: object) => tool as AgentTool],
])("accepts readOnly of a tool %s as an alias of isReadOnly", async (_, define) => {
  const wait = define({
    name: "look",
    description: "Looks",
    parameters: { type: "object" },
    readOnly: true,
    execute: async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return { content: [{ type: "text", text: "seen" }] };
    },
  } as never);
  const calls = ["a", "b"].map((id) => toolCall("look", {}, { id }));
  const overrides = { customTools: [wait], permissions: { mode: "readOnly" } } as const;
  const { order, session } = await play(calls, {}, overrides);
  expect(order.slice(0, 2)).toEqual(["a begins", "b begins"]);
  // The result shows that no permission was needed.
  expect(JSON.stringify(session.messages)).toContain("seen");
});
