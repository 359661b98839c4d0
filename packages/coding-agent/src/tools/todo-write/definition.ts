import { parseJson } from "@tau-agent/rpc-protocol/plain";
import { bendTodo } from "@tau-agent/sessions/log";
import { toolRow } from "../common/tool-row.ts";

export const todoWriteTool = toolRow({
  name: "todo_write",
  description: "Write the whole todo list.",
  properties: {
    todos: {
      type: "array",
      items: {
        type: "object",
        properties: {
          content: { type: "string" },
          status: {
            type: "string",
            enum: ["pending", "in_progress", "completed", "abandoned"],
          },
        },
        required: ["content", "status"],
      },
    },
  },
  required: ["todos"],
  promptGuidelines: ["For three steps or more, keep a todo_write list with one item in_progress."],
  prepareArguments: prepareTodoArguments,
  load: async () => (await import("./todo-write.ts")).runTodoWriteTool,
});

/** Accepts other names for the list, and a list with headings, as models trained with other hosts send them. */
function prepareTodoArguments(received: Record<string, unknown>): Record<string, unknown> {
  const { todos, items, tasks, phases, ...rest } = received;
  const list = parsed(todos ?? items ?? tasks) ?? fromPhases(parsed(phases));
  if (list === undefined) return received;
  return { ...rest, todos: Array.isArray(list) ? list.map(bendTodo) : list };
}

function fromPhases(phases: unknown): unknown {
  if (!Array.isArray(phases)) return undefined;
  return phases.flatMap((phase: unknown) => {
    const { name, tasks } = Object(phase) as { name?: unknown; tasks?: unknown };
    if (!Array.isArray(tasks)) return [phase];
    return tasks.map((task: unknown) =>
      typeof task === "string" ? { content: task, phase: name } : { phase: name, ...Object(task) },
    );
  });
}

/** Accepts a list that was sent as JSON in a string. */
function parsed(value: unknown): unknown {
  const isList = typeof value === "string" && /^\s*[[{]/.test(value);
  return isList ? parseJson(value, value) : value;
}
