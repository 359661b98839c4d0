import type { TodoItem, TodoPhase, TodoStatus } from "@tau-agent/rpc-protocol";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";

/** Alternative names for a status; case, spaces and dashes are ignored. */
const statuses: Readonly<Record<TodoStatus, readonly string[]>> = {
  pending: ["pending", "todo", "open", "not_started", "queued", "blocked"],
  in_progress: ["in_progress", "inprogress", "active", "doing", "current", "started", "running"],
  completed: ["completed", "complete", "done", "finished", "closed", "resolved"],
  abandoned: ["abandoned", "cancelled", "canceled", "dropped", "skipped", "deleted"],
};

const statusOf = new Map(
  Object.entries(statuses).flatMap(([status, names]) =>
    names.map((name) => [name, status as TodoStatus] as const),
  ),
);

/** The heading for todos without one, where a heading is required. */
const UNNAMED_PHASE = "Todos";

/**
 * Converts an item from the forms that models and other programs use to the tool's. Unknown parts
 * stay unchanged, so that validation names them.
 */
export function bendTodo(item: unknown): unknown {
  if (typeof item === "string") return { content: item, status: "pending" };
  if (!isJsonObject(item)) return item;
  const { id, activeForm, active_form: snakeForm, phase } = item;
  return {
    ...present("id", typeof id === "number" ? String(id) : id),
    ...present("content", item.content ?? item.text ?? item.title ?? item.task ?? item.subject),
    status: bendStatus(item),
    ...present("activeForm", activeForm ?? snakeForm),
    ...present("notes", notesOf(item.notes ?? item.details)),
    ...present("phase", phase),
  };
}

/** The todos in a value from a session file; undefined if it is not a list. Malformed items are skipped. */
export function readTodos(value: unknown): TodoItem[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.map(bendTodo).flatMap((item) => {
    if (!isJsonObject(item) || typeof item.content !== "string" || item.content === "") return [];
    const todo: TodoItem = {
      content: item.content,
      status: statusOf.get(String(item.status)) ?? "pending",
    };
    for (const name of ["id", "activeForm", "notes", "phase"] as const) {
      const said = item[name];
      if (typeof said === "string") todo[name] = said;
    }
    return [todo];
  });
}

/** The todos in a list of phases, the form of other pi-compatible hosts; undefined if it is not such a list. */
export function readPhases(value: unknown): TodoItem[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.filter(isJsonObject).flatMap(({ name, tasks }) =>
    (readTodos(tasks) ?? []).map((item) => {
      const isNamed = typeof name === "string" && name !== "" && name !== UNNAMED_PHASE;
      return isNamed ? { ...item, phase: name } : item;
    }),
  );
}

/** The list grouped by heading, in order of first appearance. */
export function phasesOf(todos: readonly TodoItem[]): TodoPhase[] {
  const phases = new Map<string, TodoPhase>();
  for (const { phase: name = UNNAMED_PHASE, ...task } of todos) {
    const phase = phases.get(name) ?? { name, tasks: [] };
    phase.tasks.push(task);
    phases.set(name, phase);
  }
  return [...phases.values()];
}

/** Whether the item still has to be done. */
export function isOpen({ status }: TodoItem): boolean {
  return status === "pending" || status === "in_progress";
}

function bendStatus(item: Record<string, unknown>): unknown {
  const said = item.status ?? item.state;
  if (said === undefined || said === null) {
    return item.done === true || item.completed === true ? "completed" : "pending";
  }
  if (typeof said !== "string") return said;
  return (
    statusOf.get(
      said
        .trim()
        .toLowerCase()
        .replace(/[\s-]+/g, "_"),
    ) ?? said
  );
}

function notesOf(notes: unknown): unknown {
  return Array.isArray(notes) ? notes.map(String).join("\n") : notes;
}

/** An optional member; omitted if empty. */
function present(name: string, value: unknown): Record<string, unknown> {
  return value === undefined || value === null || value === "" ? {} : { [name]: value };
}
