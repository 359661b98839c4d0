import type { AgentTool } from "@tau-agent/agent";
import { maySpawn } from "../agents/agent-definition.ts";
import { outlineAgents } from "../agents/load-agents.ts";
import type { TaskServices } from "../tasks/task-services.ts";
import { taskDescription, taskParameters } from "./definition.ts";

/** Makes the `task` tool; what runs it is loaded at its first use. */
export function createTaskTool(services: TaskServices): AgentTool {
  let described: { readonly key: string; readonly text: string } | undefined;
  return {
    name: "task",
    label: "task",
    /** Made once for each folder, then always the same: vendors cache what begins a request. */
    get description() {
      const key = `${services.environment.cwd} ${services.session().isProjectTrusted}`;
      if (described?.key !== key) {
        described = { key, text: `${taskDescription} Agents:\n${agentLines(services)}` };
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

function agentLines(services: TaskServices): string {
  const { agentDirectory, environment, allowedAgents } = services;
  const { cwd, homeDirectory } = environment;
  const { isProjectTrusted } = services.session();
  const agents = outlineAgents({ agentDirectory, cwd, homeDirectory, isProjectTrusted });
  return [...agents]
    .filter(([name]) => maySpawn(allowedAgents, name))
    .map(([name, description]) => (description === "" ? `- ${name}` : `- ${name}: ${description}`))
    .join("\n");
}
