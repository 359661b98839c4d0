import { maySpawn } from "../agents/agent-definition.ts";
import { outlineAgents } from "../agents/load-agents.ts";
import type { TaskServices } from "../tasks/task-services.ts";

const purpose =
  "Give work to subagents and get their final answers. Isolate those that change files at once.";

/**
 * What `task` is for, and the agents it can name. Made once per folder and trust, then always the same:
 * vendors cache what begins a request.
 */
export function describeTask(services: TaskServices): () => string {
  let described: { readonly key: string; readonly text: string } | undefined;
  return () => {
    const key = `${services.environment.cwd} ${services.session().isProjectTrusted}`;
    if (described?.key !== key) {
      described = { key, text: `${purpose} Agents:\n${agentLines(services)}` };
    }
    return described.text;
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
