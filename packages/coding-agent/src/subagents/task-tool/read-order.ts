import { ToolError } from "@tau-agent/agent";
import { readAnswerSchema } from "@tau-agent/system";
import { type AgentDefinition, maySpawn } from "../agents/agent-definition.ts";
import { type LoadedAgents, loadAgents } from "../agents/load-agents.ts";
import { resumedConversation } from "../tasks/resumed-conversation.ts";
import type { ResumedConversation, Task, TaskOrder } from "../tasks/task-order.ts";
import { maySpawnAt, type TaskServices } from "../tasks/task-services.ts";
import { readVerifyRequest } from "../verification/verify-config.ts";

/** The maximum number of tasks per call. */
const MAX_TASKS = 64;

interface TaskItem {
  readonly id: string;
  readonly task: string;
  readonly agent?: string | undefined;
  readonly description?: string | undefined;
}

/** The arguments, already checked against the tool's schema. */
export interface TaskArguments {
  readonly task?: string | undefined;
  readonly agent?: string | undefined;
  readonly description?: string | undefined;
  readonly tasks?: readonly TaskItem[] | undefined;
  readonly context?: string | undefined;
  readonly model?: string | undefined;
  readonly outputSchema?: unknown;
  readonly isolated?: boolean | undefined;
  readonly verify?: unknown;
  /** The id of an ended subagent to continue. */
  readonly resume?: string | undefined;
  readonly background?: boolean | undefined;
  readonly notify?: boolean | undefined;
}

/**
 * Reads the arguments of a call, and finds all mistakes before anything is started.
 *
 * @throws {ToolError} that names the mistake
 */
export async function readOrder(
  args: TaskArguments,
  services: TaskServices,
  singleId: string,
): Promise<TaskOrder> {
  if (!maySpawnAt(services, services.depth)) {
    throw new ToolError(
      `Subagents may not be nested deeper than ${services.settings.get("task.maxRecursionDepth")} (task.maxRecursionDepth).`,
    );
  }
  const resumed = args.resume ? await resumedBy(args.resume, args, services) : undefined;
  const items = itemsOf(args, resumed?.record.id ?? singleId);
  const { agents, diagnostics } = await loadAgents({
    agentDirectory: services.agentDirectory,
    cwd: services.environment.cwd,
    homeDirectory: services.environment.homeDirectory,
    disk: services.disk,
    isProjectTrusted: services.session().isProjectTrusted,
  });
  const tasks = items.map((item): Task => {
    const name = resumed?.record.agent ?? item.agent ?? args.agent ?? "task";
    const agent = agentOf(name, { agents, diagnostics }, services.allowedAgents);
    const note = resumed !== undefined && isCutOff(resumed) ? cutOffNote : undefined;
    const prompt = [note, args.context, item.task].filter(Boolean).join("\n\n");
    const id = resumed === undefined ? services.subagents.claim(item.id) : item.id;
    return { id, agent, description: item.description, prompt, resumes: resumed };
  });
  const isolated = resumed?.record.isolated ?? args.isolated === true;
  return {
    tasks,
    modelPattern: args.model === "" ? undefined : args.model,
    answerSchema:
      args.outputSchema === undefined ? undefined : await readAnswerSchema(args.outputSchema),
    isolated,
    verify: readVerifyRequest(args.verify, isolated, services.settings),
  };
}

const cutOffNote =
  "[The host of your earlier work was killed. You are in a new worktree: look which of your changes are in " +
  "its files before you rely on them.]";

/** Whether an isolated subagent was killed with its host before its work could be kept. */
function isCutOff({ record }: ResumedConversation): boolean {
  return record.isolated && record.status === "interrupted" && record.endedAt === undefined;
}

/** @throws {ToolError} if there is no such subagent, it is running, or nothing of it was kept */
async function resumedBy(
  id: string,
  { tasks }: TaskArguments,
  services: TaskServices,
): Promise<ResumedConversation> {
  if (tasks !== undefined) throw new ToolError("Give resume with task, not with tasks.");
  return resumedConversation(await services.subagents.resumable(id), services);
}

function itemsOf({ task, tasks, description }: TaskArguments, singleId: string): TaskItem[] {
  const isBatch = tasks !== undefined && tasks.length > 0;
  if (isBatch === (task !== undefined && task.trim() !== "")) {
    throw new ToolError("Give either task or tasks (with at least one), but not both.");
  }
  if (!isBatch) return [{ id: singleId, task: task ?? "", description }];
  if (tasks.length > MAX_TASKS) {
    throw new ToolError(`One call takes at most ${MAX_TASKS} tasks, not ${tasks.length}.`);
  }
  const seen = new Set<string>();
  for (const { id, task: text } of tasks) {
    if (id.trim() === "" || seen.has(id)) throw new ToolError(`The id "${id}" is not unique.`);
    if (text.trim() === "") throw new ToolError(`The task "${id}" is empty.`);
    seen.add(id);
  }
  return [...tasks];
}

function agentOf(
  name: string,
  { agents, diagnostics }: LoadedAgents,
  allowed: readonly string[] | undefined,
): AgentDefinition {
  const names = [...agents.keys()].filter((known) => maySpawn(allowed, known));
  const agent = agents.get(name);
  if (agent === undefined) {
    const problems = diagnostics.map(({ message }) => `\n${message}`).join("");
    throw new ToolError(`There is no agent "${name}"; there are ${names.join(", ")}.${problems}`);
  }
  if (names.includes(name)) return agent;
  throw new ToolError(`This agent may not start "${name}", only: ${names.join(", ") || "none"}.`);
}
