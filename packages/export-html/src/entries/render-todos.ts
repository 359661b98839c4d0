import { type Html, html } from "@tau-agent/markup";
import type { SessionEntry, TodoItem, TodoStatus } from "@tau-agent/rpc-protocol";
import { phasesOf, todosOf } from "@tau-agent/sessions/log";
import { attempt } from "@tau-agent/system";
import { snippet } from "./facts.ts";
import { foldable } from "./render-parts.ts";
import type { SessionOutline } from "./session-outline.ts";

const words: Readonly<Record<TodoStatus, string>> = {
  pending: "Open",
  in_progress: "In progress",
  completed: "Done",
  abandoned: "Dropped",
};

export interface LatestTodos {
  readonly index: number;
  readonly todos: readonly TodoItem[];
}

/** The last todo list of the current branch; undefined if there is none, or it was emptied. */
export function latestTodos({ entries, path }: SessionOutline): LatestTodos | undefined {
  for (const index of path.toReversed()) {
    const todos = readTodosOf(entries[index]);
    if (todos !== undefined) return todos.length === 0 ? undefined : { index, todos };
  }
  return undefined;
}

export function readTodosOf(entry: SessionEntry | undefined): readonly TodoItem[] | undefined {
  return attempt(() => entry && todosOf(entry));
}

/** A todo list in the conversation: open if it is the latest, otherwise a single line. */
export function renderTodos(todos: readonly TodoItem[], isLatest: boolean): Html {
  if (todos.length === 0) return html`<p class="note">The list is empty</p>`;
  const active = todos.find(({ status }) => status === "in_progress");
  const hint =
    active !== undefined &&
    html` <span class="hint">${snippet(active.activeForm ?? active.content, 90)}</span>`;
  return foldable(html`${progressOf(todos)}${hint}`, checklist(todos), isLatest, "todo");
}

/** `2 of 5 done`. */
export function progressOf(todos: readonly TodoItem[]): string {
  const done = todos.filter(({ status }) => status === "completed").length;
  return `${done} of ${todos.length} done`;
}

export function checklist(todos: readonly TodoItem[]): Html {
  const isGrouped = todos.some(({ phase }) => phase !== undefined);
  if (!isGrouped) return list(todos);
  const groups = phasesOf(todos).map(
    ({ name, tasks }) => html`<h5 dir="auto">${name}</h5>${list(tasks)}`,
  );
  return html`${groups}`;
}

function list(todos: readonly TodoItem[]): Html {
  const items = todos.map(({ status, content, notes }) => {
    const note = notes !== undefined && html`<div class="note">${notes}</div>`;
    return html`<li class="${status}"><span class="box" role="img" aria-label="${words[status]}"></span><div dir="auto">${content}${note}</div></li>`;
  });
  return html`<ul class="todos">${items}</ul>`;
}
