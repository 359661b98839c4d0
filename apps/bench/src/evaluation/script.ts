import type { EditTask } from "./edit-task.ts";
import { pathOf } from "./run-tasks.ts";

export function scriptOf(tasks: readonly EditTask[]): object[] {
  return tasks.flatMap((task) => {
    const calls = JSON.parse(
      JSON.stringify(task.scripted).replaceAll("FILE", pathOf(task)),
    ) as EditTask["scripted"];
    const turns = calls.map(({ name, arguments: args }) => ({
      content: [{ type: "toolCall", name, arguments: args }],
    }));
    return [...turns, { content: "Done." }];
  });
}
