import type { AgentTool } from "@tau-agent/agent";
import { maySpawn } from "../../subagents/agents/agent-definition.ts";
import { outlineAgents } from "../../subagents/agents/load-agents.ts";
import type { TaskServices } from "../../subagents/task-services.ts";
import { taskDescription, taskParameters } from "./definition.ts";

/** Makes the `task` tool; what runs it is loaded at its first use. */
export function createTaskTool(services: TaskServices): AgentTool {
  let description: string | undefined;
  return {
    name: "task",
    label: "task",
    /** Made when it is first asked for, then always the same: vendors cache what begins a request. */
    get description() {
      description ??= `${taskDescription} Agents:\n${agentLines(services)}`;
      return description;
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
  const agents = outlineAgents({ agentDir: agentDirectory, cwd: environment.cwd });
  return [...agents]
    .filter(([name]) => maySpawn(allowedAgents, name))
    .map(([name, description]) => (description === "" ? `- ${name}` : `- ${name}: ${description}`))
    .join("\n");
}
