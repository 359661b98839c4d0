import type { EvaluationTask, ScriptedCall } from "./evaluation-task.ts";
import { withPaths } from "./run-tasks.ts";

export function scriptOf(tasks: readonly EvaluationTask[]): object[] {
  // A subagent's process plays the same script from the start.
  const answers = tasks.flatMap(({ subagents = {} }) =>
    Object.entries(subagents).map(([part, content]) => ({
      content,
      when: { lastUserIncludes: part },
      repeat: true,
    })),
  );
  return [...answers, ...tasks.flatMap(turnsOf)];
}

function turnsOf(task: EvaluationTask): object[] {
  const scripted: ScriptedCall[] = JSON.parse(withPaths(JSON.stringify(task.scripted), task));
  const turns = scripted.map(({ name, arguments: input, after }) => ({
    content: [{ type: "toolCall", name, arguments: input }],
    ...(after !== undefined && { when: { lastToolResultMatches: after } }),
  }));
  return [...turns, { content: "Done." }];
}
