import * as z from "zod/mini";
import { TodoItem, TodoPhase } from "../vocabulary/todo.ts";
import { command } from "./command.ts";

const list = () =>
  z.object({
    /** The todo list. */
    todos: z.array(TodoItem),
    /** The todo list by phase. */
    todoPhases: z.array(TodoPhase),
  });

/** Phases as other hosts store them; additional members of a todo are accepted. */
const ForeignPhase = () =>
  z.object({
    /** The name of the phase. */
    name: z.string(),
    /** The tasks of the phase, in order. */
    tasks: z.array(
      z.looseObject({
        /** What to do. */
        content: z.string(),
        /** The status. */
        status: z.string(),
      }),
    ),
  });

/** The todo list of the session. */
export const todoCommands = {
  get_todos: command({
    summary: "Returns the todo list of the current branch.",
    result: list,
  }),
  set_todos: command({
    summary:
      "Replaces the todo list, by `todos` or by `phases`; the model is informed at its next turn.",
    params: () =>
      z.object({
        /** The complete list, in a single phase. */
        todos: z.optional(z.array(TodoItem)),
        /** The complete list by phase. */
        phases: z.optional(z.array(ForeignPhase())),
      }),
    result: list,
    positional: ["todos"],
    awaitsSessionChange: true,
  }),
};
