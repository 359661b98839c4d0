import { ToolError } from "@tau-agent/agent";
import type { TodoItem } from "@tau-agent/rpc-protocol";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { phasesOf, readTodos } from "@tau-agent/sessions/log";
import { todoLines } from "../../todos/todo-text.ts";

/** Far more items than anybody can keep track of. */
const MAX_TODOS = 500;

interface TodoWriteArguments {
  readonly todos: readonly {
    readonly content: string;
    readonly status: "pending" | "in_progress" | "completed" | "abandoned";
    readonly id?: string | undefined;
    readonly activeForm?: string | undefined;
    readonly notes?: string | undefined;
    readonly phase?: string | undefined;
  }[];
}

/** Writes the todo list: the result, which the session stores, is the list from now on. */
export async function runTodoWriteTool(args: TodoWriteArguments): Promise<ToolResult> {
  check(args);
  const todos = readTodos(args.todos) ?? [];
  const text = todos.length === 0 ? "The todo list is empty now." : listText(todos);
  return { content: [{ type: "text", text }], details: { todos, phases: phasesOf(todos) } };
}

function check(args: TodoWriteArguments & { readonly merge?: unknown }): void {
  const { todos } = args;
  if (args.merge === true) {
    throw new ToolError(
      "merge: lists are not merged here, and nothing was changed. Send the whole list without merge.",
    );
  }
  if (todos.length > MAX_TODOS) {
    throw new ToolError(`todos: ${todos.length} items are too many; keep it to ${MAX_TODOS}.`);
  }
  const seen = new Map<string, number>();
  for (const [index, { id, content }] of todos.entries()) {
    if (content.trim() === "") {
      throw new ToolError(`todos.${index}.content: is empty; say what is to be done.`);
    }
    const first = id === undefined ? undefined : seen.get(id);
    if (first !== undefined) {
      throw new ToolError(
        `todos.${index}.id: "${id}" is the id of todos.${first}, too; give each item its own or none.`,
      );
    }
    if (id !== undefined) seen.set(id, index);
  }
}

function listText(todos: readonly TodoItem[]): string {
  const count = (status: TodoItem["status"]) =>
    todos.filter((item) => item.status === status).length;
  const closed = count("completed") + count("abandoned");
  const lines = [`${count("completed")} of ${todos.length} done.`, todoLines(todos)];
  if (count("in_progress") > 1) lines.push("Several items are in progress; keep it to one.");
  else if (count("in_progress") === 0 && closed < todos.length) {
    lines.push("No item is in progress; mark the one you work on.");
  }
  return lines.join("\n");
}
