import * as z from "zod/mini";
import { command } from "../command.ts";
import { TodoItem, TodoPhase } from "../todo.ts";
import { noParams } from "./shared.ts";

const list = () =>
  z.object({
    todos: z.array(TodoItem),
    /** The same under their headings. */
    todoPhases: z.array(TodoPhase),
  });

/** Phases as other hosts keep them; what they say of a todo besides is read leniently. */
const ForeignPhase = () =>
  z.object({
    name: z.string(),
    tasks: z.array(z.looseObject({ content: z.string(), status: z.string() })),
  });

/** The todo list of the session. */
export const todoCommands = {
  get_todos: command({
    summary: "Returns the todo list of the branch the session is on.",
    params: noParams,
    result: list,
  }),
  set_todos: command({
    summary:
      "Replaces the todo list, by `todos` or by `phases`; the model hears of it at its next turn.",
    params: () =>
      z.object({
        todos: z.optional(z.array(TodoItem)),
        phases: z.optional(z.array(ForeignPhase())),
      }),
    result: list,
    positional: ["todos"],
    awaitsSessionChange: true,
  }),
};
