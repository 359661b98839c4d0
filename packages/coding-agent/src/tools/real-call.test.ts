import type { AgentTool } from "@tau-agent/agent";
import { toolCall as scriptedCall, text, turn } from "@tau-agent/ai/testing";
import type { ToolCall } from "@tau-agent/rpc-protocol/messages";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Workspace } from "../../../system/src/processes/__fixtures__/workspace.ts";
import { createTestSession } from "../create/__fixtures__/test-session.ts";
import { taskTool } from "../subagents/task-tool/definition.ts";
import { toolAliases } from "./aliases.ts";
import { createTools } from "./index.ts";
import { createCallResolver } from "./real-call.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace[Symbol.dispose]());

const task = { ...taskTool, description: "" } as unknown as AgentTool;

function resolve(
  name: string,
  args: Record<string, unknown>,
  { added = [], inactive = [] }: { added?: AgentTool[]; inactive?: string[] } = {},
) {
  const tools = [...createTools(workspace.environment()), task, ...added];
  const active = tools.filter((tool) => !inactive.includes(tool.name));
  const call: ToolCall = { type: "toolCall", id: "call_1", name, arguments: args };
  const real = createCallResolver(() => tools)(call, active);
  return { name: real.name, args: real.arguments, isSame: real === call };
}

function foreign(name: string, properties: Record<string, unknown> = {}): AgentTool {
  const parameters = { type: "object", properties };
  return { name, description: name, parameters, execute: async () => ({ content: [] }) };
}

describe("a call with another host's names", () => {
  it.each([
    ["Read", { file_path: "a" }, "read", { path: "a" }],
    ["read_file", { target_file: "a", limit: 3 }, "read", { path: "a", limit: 3 }],
    ["Bash", { cmd: "ls" }, "bash", { command: "ls" }],
    [
      "run_shell_command",
      { command: "ls", timeout_ms: 1500 },
      "bash",
      { command: "ls", timeout: 1.5 },
    ],
    ["functions.bash", { command: "ls" }, "bash", { command: "ls" }],
    [
      "Edit",
      { file_path: "a", old_string: "x", new_string: "y" },
      "edit",
      { path: "a", oldText: "x", newText: "y" },
    ],
    [
      "MultiEdit",
      { file_path: "a", edits: [{ old_string: "x", new_string: "y" }] },
      "edit",
      { path: "a", edits: [{ oldText: "x", newText: "y" }] },
    ],
    ["create_file", { path: "a", file_text: "b" }, "write", { path: "a", content: "b" }],
    [
      "Grep",
      { pattern: "x", include: "*.ts", "-i": true },
      "grep",
      { pattern: "x", glob: "*.ts", ignoreCase: true },
    ],
    ["Glob", { pattern: "*.ts" }, "find", { pattern: "*.ts" }],
    ["list_dir", { directory: "src" }, "ls", { path: "src" }],
    ["TodoWrite", { todos: [] }, "todo_write", { todos: [] }],
    [
      "update_plan",
      { plan: [{ step: "a", status: "open" }] },
      "todo_write",
      { todos: [{ content: "a", status: "open" }] },
    ],
    ["Task", { prompt: "p", subagent_type: "scout" }, "task", { task: "p", agent: "scout" }],
  ] as const)("is understood: %s", (name, args, real, realArgs) => {
    expect(resolve(name, args)).toMatchObject({ name: real, args: realArgs });
  });

  it("is left alone if nothing has to change", () => {
    expect(resolve("read", { path: "a" }).isSame).toBe(true);
    expect(resolve("no_such_tool", { file_path: "a" }).isSame).toBe(true);
  });

  it("keeps the real argument in addition to its alias", () => {
    expect(resolve("read", { file_path: "alias", path: "real" }).args).toEqual({ path: "real" });
    expect(resolve("read", { path: "real", file_path: "alias" }).args).toEqual({ path: "real" });
    expect(resolve("read", { path: null, file_path: "alias" }).args).toEqual({ path: "alias" });
  });

  it("refers to a loaded tool of exactly that name, whether active or not", () => {
    const shell = foreign("shell");
    expect(resolve("shell", { cmd: "ls" }, { added: [shell] })).toMatchObject({ isSame: true });
    const inactive = { added: [shell], inactive: ["shell"] };
    expect(resolve("shell", { cmd: "ls" }, inactive)).toMatchObject({ isSame: true });
  });

  it("never refers to an inactive tool", () => {
    expect(resolve("Bash", { cmd: "ls" }, { inactive: ["bash"] }).isSame).toBe(true);
  });

  it("keeps an argument that the tool's own schema has", () => {
    const tools = [foreign("read", { file_path: { type: "string" } })];
    const call: ToolCall = {
      type: "toolCall",
      id: "1",
      name: "Read",
      arguments: { file_path: "a" },
    };
    expect(createCallResolver(() => tools)(call, tools)).toMatchObject({
      name: "read",
      arguments: { file_path: "a" },
    });
  });

  it("treats a member named __proto__ as a normal member", () => {
    const args = JSON.parse('{"file_path":"a","__proto__":{"x":1}}');
    expect(Object.keys(resolve("read", args).args)).toEqual(["path", "__proto__"]);
  });
});

it("has aliases only for existing tools and arguments, each for exactly one tool", () => {
  const tools = new Map(
    [...createTools(workspace.environment()), task].map((tool) => [tool.name, tool]),
  );
  const names = Object.values(toolAliases).flatMap((aliases) => aliases.names);
  expect(new Set(names).size).toBe(names.length);
  for (const [name, aliases] of Object.entries(toolAliases)) {
    const schema = JSON.stringify(tools.get(name)?.parameters);
    for (const real of Object.values(aliases.arguments)) {
      expect(schema).toContain(`"${typeof real === "string" ? real : real[0]}":{`);
    }
  }
});

it("appears as the real call in events, session and hooks, and runs it", async () => {
  const { session, events, written } = await createTestSession((request) =>
    request.toolResults.length > 0
      ? "done"
      : turn([
          text("I run it."),
          scriptedCall("Bash", { cmd: "echo hello > out.txt && cat out.txt" }),
          scriptedCall("Edit", { file_path: "out.txt", old_string: "hello", new_string: "bye" }),
        ]),
  );
  await session.prompt("go");
  const said = JSON.stringify([
    ...events.filter(({ type }) => type !== "message_update"),
    ...written(),
  ]);
  expect(said).not.toContain('"Bash"');
  expect(said).not.toContain("old_string");
  expect(said).toContain('"toolName":"bash"');
  const results = session.messages.filter(({ role }) => role === "toolResult");
  expect(results).toMatchObject([
    { toolName: "bash", isError: false, content: [{ text: "hello\n" }] },
    { toolName: "edit", isError: false },
  ]);
});
