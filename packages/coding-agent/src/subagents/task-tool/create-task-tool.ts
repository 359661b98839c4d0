import type { AgentTool } from "@tau-agent/agent";
import { maySpawn } from "../agents/agent-definition.ts";
import { outlineAgents } from "../agents/load-agents.ts";
import type { TaskServices } from "../tasks/task-services.ts";
import { taskDescription, taskParameters } from "./definition.ts";

/** Makes the `task` tool; what runs it is loaded at its first use. */
export function createTaskTool(services: TaskServices): AgentTool {
  let described: { readonly cwd: string; readonly text: string } | undefined;
  return {
    name: "task",
    label: "task",
    /**
     * Built once per folder and then unchanged, because vendors cache the beginning of a request.
     */
    get description() {
      const { cwd } = services.environment;
      if (described?.cwd !== cwd) {
        described = { cwd, text: `${taskDescription} Agents:\n${agentLines(services)}` };
      }
      return described.text;
    },
    parameters: taskParameters,
    promptSnippet: "Give work to subagents, one or several at once",
    execute: async (args, call) => {
      const { runTaskTool } = await import("./task.ts");
      return runTaskTool(args, services, call);
    },
  };
}

function agentLines({ agentDirectory, environment, allowedAgents }: TaskServices): string {
  const agents = outlineAgents({ agentDirectory, cwd: environment.cwd });
  return [...agents]
    .filter(([name]) => maySpawn(allowedAgents, name))
    .map(([name, description]) => (description === "" ? `- ${name}` : `- ${name}: ${description}`))
    .join("\n");
}
