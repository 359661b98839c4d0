import type { KnownSessionEntry, SessionEntry, TodoItem } from "@tau-agent/rpc-protocol";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { readPhases, readTodos } from "./read-todos.ts";

/** The type of the entry for a list that the model did not write; the name is pi's. */
export const TODO_EDIT_TYPE = "user_todo_edit";

/** The list that an entry sets; undefined if it sets none. */
export function todosOf(entry: SessionEntry): TodoItem[] | undefined {
  const known = entry as KnownSessionEntry;
  if (known.type === "custom" && known.customType === TODO_EDIT_TYPE) return listOf(known.data);
  if (known.type !== "message" || known.message.role !== "toolResult") return undefined;
  const { toolName, isError, details } = known.message;
  if (isError) return undefined;
  if (toolName === "todo_write") return listOf(details);
  // Other tools with this name use lists in other forms.
  return toolName === "todo" && isJsonObject(details) ? readPhases(details.phases) : undefined;
}

function listOf(value: unknown): TodoItem[] | undefined {
  if (!isJsonObject(value)) return undefined;
  return readTodos(value.todos) ?? readPhases(value.phases);
}
