import type { SessionTodos } from "@tau-agent/coding-agent";
import { ProtocolError } from "@tau-agent/rpc-protocol";
import type { todoCommands } from "@tau-agent/rpc-protocol/commands";
import type { HostHandlers } from "./contexts.ts";

export const todoHandlers = {
  get_todos: ({ session }) => listOf(session.todos),
  set_todos: async ({ session }, { todos, phases }) => {
    if (todos !== undefined) await session.todos.set(todos);
    else if (phases !== undefined) await session.todos.setPhases(phases);
    else {
      throw new ProtocolError("invalid_params", {
        field: "todos",
        command: "set_todos",
        reason: "give todos or phases; an empty list clears it",
      });
    }
    return listOf(session.todos);
  },
} satisfies Pick<HostHandlers, keyof typeof todoCommands>;

function listOf({ items, phases }: SessionTodos) {
  return { todos: [...items], todoPhases: phases };
}
