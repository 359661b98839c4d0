import type { EvaluationTask } from "../evaluation-task.ts";
import { cTasks } from "./c.ts";
import { goTasks } from "./go.ts";
import { pythonTasks } from "./python.ts";
import { rustTasks } from "./rust.ts";
import { toolTasks } from "./tools.ts";
import { typescriptTasks } from "./typescript.ts";

export const editTasks: readonly EvaluationTask[] = [
  ...typescriptTasks,
  ...pythonTasks,
  ...goTasks,
  ...rustTasks,
  ...cTasks,
];

/** The edits, and the tasks for the descriptions of the other tools. */
export const evaluationTasks: readonly EvaluationTask[] = [...editTasks, ...toolTasks];
