import { maySpawn } from "../agents/agent-definition.ts";
import { outlineAgents } from "../agents/load-agents.ts";
import type { TaskServices } from "../tasks/task-services.ts";

const purpose =
  "Give work to subagents, each with a conversation of its own; you get their final answers. " +
  "Use it for work that can be described completely and would fill your own conversation, and for several independent pieces at once. " +
  "Subagents that change files at the same time should be isolated.";

/**
 * What `task` is for, and the agents it can name. Made once for each folder, then always the same:
 * vendors cache what begins a request.
 */
export function describeTask(services: TaskServices): () => string {
  let described: { readonly cwd: string; readonly text: string } | undefined;
  return () => {
    const { cwd } = services.environment;
    if (described?.cwd !== cwd) {
      described = { cwd, text: `${purpose} Agents:\n${agentLines(services)}` };
    }
    return described.text;
  };
}

function agentLines({ agentDirectory, environment, allowedAgents }: TaskServices): string {
  const agents = outlineAgents({ agentDirectory, cwd: environment.cwd });
  return [...agents]
    .filter(([name]) => maySpawn(allowedAgents, name))
    .map(([name, description]) => (description === "" ? `- ${name}` : `- ${name}: ${description}`))
    .join("\n");
}
