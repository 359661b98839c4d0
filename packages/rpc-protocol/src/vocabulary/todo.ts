import * as z from "zod/mini";

/** The progress of a todo; an `abandoned` one will not be done. */
export const TodoStatus = z.enum(["pending", "in_progress", "completed", "abandoned"]);
export type TodoStatus = z.infer<typeof TodoStatus>;

const task = {
  /** An id chosen by the author of the list. */
  id: z.optional(z.string()),
  /** What to do. */
  content: z.string().check(z.minLength(1)),
  /** The status. */
  status: TodoStatus,
  /** The task in the present continuous, for display. */
  activeForm: z.optional(z.string()),
  /** Notes on the task. */
  notes: z.optional(z.string()),
};

/** One item of a session's todo list. */
export const TodoItem = z.object({
  ...task,
  /** The phase the task belongs to. */
  phase: z.optional(z.string()),
});
export type TodoItem = z.infer<typeof TodoItem>;

/** Todos under one heading, as other pi-compatible hosts keep them. */
export const TodoPhase = z.object({
  /** The name of the phase. */
  name: z.string(),
  /** The tasks of the phase, in order. */
  tasks: z.array(z.object(task)),
});
export type TodoPhase = z.infer<typeof TodoPhase>;

/** Events about the todo list. */
export const todoEvents = [
  /** The agent stopped with open todos and is asked to continue. */
  z.object({
    type: z.literal("todo_reminder"),
    /** The open todos. */
    todos: z.array(TodoItem),
    /** The number of the attempt, starting at 1. */
    attempt: z.number(),
    /** The maximum number of attempts. */
    maxAttempts: z.number(),
  }),
] as const;
