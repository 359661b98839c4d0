import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { TodoItem } from "@tau-agent/coding-agent";

/** The todo list as a plan, without abandoned items. */
export function planUpdate(todos: readonly TodoItem[]): SessionUpdate {
  const entries = todos.flatMap(({ content, status }) =>
    status === "abandoned" ? [] : [{ content, status, priority: "medium" as const }],
  );
  return { sessionUpdate: "plan", entries };
}
