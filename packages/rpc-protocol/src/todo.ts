import * as z from "zod/mini";

/** How far a todo is; `abandoned` is what nobody will do any more. */
export const TodoStatus = z.enum(["pending", "in_progress", "completed", "abandoned"]);
export type TodoStatus = z.infer<typeof TodoStatus>;

const task = {
  /** As whoever wrote the list gave it. */
  id: z.optional(z.string()),
  content: z.string().check(z.minLength(1)),
  status: TodoStatus,
  /** The content as something that is going on, for people who watch. */
  activeForm: z.optional(z.string()),
  notes: z.optional(z.string()),
};

/** One item of a session's todo list. */
export const TodoItem = z.object({
  ...task,
  /** The heading it stands under. */
  phase: z.optional(z.string()),
});
export type TodoItem = z.infer<typeof TodoItem>;

/** Todos under one heading, the shape in which other hosts of the family keep them. */
export const TodoPhase = z.object({ name: z.string(), tasks: z.array(z.object(task)) });
export type TodoPhase = z.infer<typeof TodoPhase>;

/** The agent stopped with open todos and is asked to go on. */
export const todoEvents = [
  z.object({
    type: z.literal("todo_reminder"),
    /** The open ones. */
    todos: z.array(TodoItem),
    attempt: z.number(),
    maxAttempts: z.number(),
  }),
] as const;
