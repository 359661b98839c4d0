import type { EditTask } from "../edit-task.ts";
import { cTasks } from "./c.ts";
import { goTasks } from "./go.ts";
import { pythonTasks } from "./python.ts";
import { rustTasks } from "./rust.ts";
import { typescriptTasks } from "./typescript.ts";

export const editTasks: readonly EditTask[] = [
  ...typescriptTasks,
  ...pythonTasks,
  ...goTasks,
  ...rustTasks,
  ...cTasks,
];
