import { type AgentTool, validateArguments } from "@tau-agent/agent";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  textOf,
  toolCall,
  Workspace,
} from "../../../../system/src/processes/__fixtures__/workspace.ts";
import { createTools } from "../index.ts";

let workspace: Workspace;
let tool: AgentTool;
beforeEach(() => {
  workspace = new Workspace();
  const found = createTools(workspace.environment()).find(({ name }) => name === "todo_write");
  if (found === undefined) expect.unreachable("todo_write");
  tool = found;
});
afterEach(() => workspace[Symbol.dispose]());

async function write(args: Record<string, unknown>) {
  const call = { type: "toolCall", id: "c", name: "todo_write", arguments: args } as const;
  return tool.execute(await validateArguments(tool, call), toolCall());
}

const listOf = async (args: Record<string, unknown>) => {
  const { details } = await write(args);
  return Reflect.get(Object(details), "todos");
};

it("returns the list to the model and the items to clients", async () => {
  const todos = [
    { content: "Read it", status: "completed" },
    { id: "b", content: "Change it", status: "in_progress", activeForm: "Changing it" },
    { content: "Try it", status: "pending", notes: "twice\nat least" },
    { content: "Sell it", status: "abandoned" },
  ];
  const result = await write({ todos });
  expect(textOf(result)).toBe(
    "1 of 4 done.\n[x] Read it\n[>] b: Change it\n[ ] Try it\n    twice\n    at least\n[-] Sell it",
  );
  expect(result.details).toEqual({ todos, phases: [{ name: "Todos", tasks: todos }] });
});

it("keeps headings", async () => {
  const todos = [
    { content: "Read", status: "in_progress", phase: "First" },
    { content: "Write", status: "pending", phase: "Then" },
  ];
  const result = await write({ todos });
  expect(textOf(result)).toBe("0 of 2 done.\nFirst:\n[>] Read\nThen:\n[ ] Write");
  expect(result.details).toMatchObject({
    phases: [
      { name: "First", tasks: [{ content: "Read", status: "in_progress" }] },
      { name: "Then", tasks: [{ content: "Write", status: "pending" }] },
    ],
  });
});

it("suggests keeping exactly one item in progress", async () => {
  const item = (status: string) => ({ content: "x", status });
  expect(textOf(await write({ todos: [item("pending")] }))).toContain("No item is in progress");
  const two = [item("in_progress"), item("in_progress")];
  expect(textOf(await write({ todos: two }))).toContain("keep it to one");
  expect(textOf(await write({ todos: [item("completed")] }))).toBe("1 of 1 done.\n[x] x");
});

describe("todo_write", () => {
  const expected = [
    { content: "a", status: "pending" },
    { content: "b", status: "in_progress" },
    { content: "c", status: "completed" },
    { content: "d", status: "abandoned" },
  ];

  it.each<[string, Record<string, unknown>]>([
    ["a list in a string", { todos: JSON.stringify(expected) }],
    ["another name for the list", { items: expected }],
    [
      "other words for a status",
      {
        todos: [
          { content: "a", status: "TODO" },
          { content: "b", status: "In Progress" },
          { content: "c", status: "done" },
          { content: "d", status: "cancelled" },
        ],
      },
    ],
    [
      "other names for the text, and no status",
      {
        todos: [
          "a",
          { title: "b", state: "in-progress" },
          { text: "c", done: true },
          { task: "d", status: "skipped" },
        ],
      },
    ],
    [
      "empty and unknown fields",
      {
        todos: expected.map((item) => ({ ...item, id: null, notes: "", priority: "high" })),
        explanation: "why",
      },
    ],
  ])("accepts what models send: %s", async (_, args) => {
    expect(await listOf(args)).toEqual(expected);
  });

  it("accepts a list with headings", async () => {
    const phases = [{ name: "One", tasks: ["a", { content: "b", status: "completed" }] }];
    expect(await listOf({ phases })).toEqual([
      { content: "a", status: "pending", phase: "One" },
      { content: "b", status: "completed", phase: "One" },
    ]);
  });

  it("accepts numeric ids, and notes that are lists", async () => {
    expect(await listOf({ todos: [{ id: 1, content: "a", notes: ["x", "y"] }] })).toEqual([
      { id: "1", content: "a", status: "pending", notes: "x\ny" },
    ]);
  });
});

describe("an invalid todo list", () => {
  it.each<[string, Record<string, unknown>, RegExp]>([
    ["is missing", {}, /todos: must have required property 'todos'/],
    ["has an item without text", { todos: ["a", { status: "pending" }] }, /todos\.1\.content/],
    [
      "has an empty item",
      { todos: [{ content: " ", status: "pending" }] },
      /todos\.0\.content: is/,
    ],
    ["has an unknown status", { todos: [{ content: "a", status: "x" }] }, /0\.status.*in_progress/],
    [
      "has an id twice",
      { todos: ["a", "b"].map((content) => ({ id: "i", content })) },
      /1\.id: "i"/,
    ],
    ["is only a part", { merge: true, todos: ["a"] }, /^merge: .*whole list/],
    ["is endless", { todos: Array.from({ length: 501 }, () => "a") }, /^todos: 501 items/],
  ])("leads to an error that names the mistake when it %s", async (_, args, words) => {
    await expect(write(args)).rejects.toThrow(words);
  });
});
