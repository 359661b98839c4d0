import { validateArguments } from "@tau-agent/agent";
import { afterEach, beforeEach, expect, expectTypeOf, it } from "vitest";
import {
  textOf,
  toolCall,
  Workspace,
} from "../../../system/src/processes/__fixtures__/workspace.ts";
import { type BuiltinToolName, createTools } from "./index.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace[Symbol.dispose]());

it("creates the tools in a fixed order, with names that types know", () => {
  const tools = createTools(workspace.environment());
  expect(tools.map(({ name }) => name)).toEqual([
    "read",
    "bash",
    "edit",
    "write",
    "grep",
    "find",
    "ls",
    "todo_write",
    "job_output",
    "job_kill",
    "list_jobs",
    "web_fetch",
  ]);
  expectTypeOf<BuiltinToolName>().toEqualTypeOf<
    | "read"
    | "bash"
    | "edit"
    | "write"
    | "grep"
    | "find"
    | "ls"
    | "todo_write"
    | "job_output"
    | "job_kill"
    | "list_jobs"
    | "web_fetch"
  >();
  expect(tools.filter(({ isReadOnly }) => isReadOnly).map(({ name }) => name)).toEqual([
    "read",
    "grep",
    "find",
    "ls",
    "job_output",
    "list_jobs",
  ]);
});

it("hides a key from commands even if it became known after the tools were created", async () => {
  const names: string[] = [];
  const environment = workspace.environment({
    environment: { PATH: process.env.PATH, VENDOR_KEY: "as a key" },
  });
  Object.defineProperty(environment, "keyVariables", { get: () => [...names] });
  const bash = createTools(environment).find(({ name }) => name === "bash");
  names.push("VENDOR_KEY");
  const result = await bash?.execute({ command: 'echo "[$VENDOR_KEY]"' }, toolCall());
  expect(result && textOf(result)).toBe("[]\n");
});

it("runs every tool with arguments that the loop has validated", async () => {
  const tools = createTools(workspace.environment());
  const run = async (name: BuiltinToolName, args: Record<string, unknown>) => {
    const tool = tools.find((candidate) => candidate.name === name);
    if (tool === undefined) expect.unreachable(name);
    const sent = { type: "toolCall", id: "call_1", name, arguments: args } as const;
    return textOf(await tool.execute(await validateArguments(tool, sent), toolCall()));
  };
  expect(await run("write", { path: "f.txt", content: "one\ntwo\n" })).toContain("8 bytes");
  const edits = JSON.stringify([{ oldText: "two", newText: "2" }]);
  expect(await run("edit", { path: "f.txt", edits })).toContain("1 block(s)");
  expect(await run("read", { path: "f.txt" })).toBe("one\n2\n");
  expect(await run("bash", { command: "cat f.txt" })).toBe("one\n2\n");
  expect(await run("grep", { pattern: "2" })).toBe("f.txt:2: 2");
  expect(await run("find", { pattern: "*.txt" })).toBe("f.txt");
  expect(await run("ls", {})).toBe("f.txt");
  expect(await run("todo_write", { todos: "[]" })).toBe("The todo list is empty now.");
});
