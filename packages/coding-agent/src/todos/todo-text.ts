import type { TodoItem, TodoStatus } from "@tau-agent/rpc-protocol";

const marks: Readonly<Record<TodoStatus, string>> = {
  pending: "[ ]",
  in_progress: "[>]",
  completed: "[x]",
  abandoned: "[-]",
};

/** The list as a model reads it, one line for each item. */
export function todoLines(todos: readonly TodoItem[]): string {
  let heading: string | undefined;
  const lines: string[] = [];
  for (const { phase, id, status, content, notes } of todos) {
    if (phase !== undefined && phase !== heading) lines.push(`${phase}:`);
    heading = phase;
    lines.push(`${marks[status]} ${id === undefined ? "" : `${id}: `}${content}`);
    if (notes !== undefined) lines.push(`    ${notes.replaceAll("\n", "\n    ")}`);
  }
  return lines.join("\n");
}
