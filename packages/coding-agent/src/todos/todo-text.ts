import type { TodoItem, TodoStatus } from "@tau-agent/rpc-protocol";
import { isOpen } from "@tau-agent/sessions/log";

const marks: Readonly<Record<TodoStatus, string>> = {
  pending: "[ ]",
  in_progress: "[>]",
  completed: "[x]",
  abandoned: "[-]",
};

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

const sectionPattern = /\n\n<todos>\n.*?\n<\/todos>/gs;

/** The list for the end of a summary; empty if everything is done. */
export function todoSection(todos: readonly TodoItem[]): string {
  return todos.some(isOpen) ? `\n\n<todos>\n${todoLines(todos)}\n</todos>` : "";
}

/** A summary without its list, which is outdated in the next summary. */
export function withoutTodoSection(summary: string): string {
  return summary.replace(sectionPattern, "");
}
