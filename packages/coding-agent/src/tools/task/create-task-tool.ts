import type { AgentTool } from "@tau-agent/agent";
import type { TaskServices } from "../../subagents/task-services.ts";
import { taskDescription, taskParameters } from "./definition.ts";

/** Makes the `task` tool; what runs it is loaded at its first use. */
export function createTaskTool(services: TaskServices): AgentTool {
  return {
    name: "task",
    label: "task",
    description: taskDescription,
    parameters: taskParameters,
    promptSnippet: "Give work to subagents, one or several at once",
    execute: async (args, call) => {
      const { runTaskTool } = await import("./task.ts");
      return runTaskTool(args, services, call);
    },
  };
}
