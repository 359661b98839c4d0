import { type ToolCallContext, ToolError } from "@tau-agent/agent";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { type Consumption, nothingUsed, plus } from "@tau-agent/sessions/log";
import type { OfferedTools } from "../../jobs/session-jobs.ts";
import { startInBackground } from "../tasks/background-tasks.ts";
import { resultText } from "../tasks/result-text.ts";
import { runTasks } from "../tasks/run-tasks.ts";
import type { Task, TaskOrder } from "../tasks/task-order.ts";
import { type TaskResult, withPatchNames } from "../tasks/task-result.ts";
import type { TaskServices } from "../tasks/task-services.ts";
import { readOrder, type TaskArguments } from "./read-order.ts";

const UPDATE_INTERVAL_MS = 200;
/** The maximum number of missing files to list for the model. */
const MAX_NAMES = 20;

export async function runTaskTool(
  args: TaskArguments,
  services: TaskServices,
  call: ToolCallContext,
): Promise<ToolResult> {
  const order = await readOrder(args, services, call.toolCallId);
  const { toolCallId, signal } = call;
  await services.budget.admit({ toolCallId, signal });
  if (args.background === true) {
    return startedResult(
      order,
      startInBackground(order, services, { toolCallId, notifies: args.notify }),
    );
  }
  // A parent session that shares its budget must know about use at once.
  const tellsUse = services.depth > 0;
  const progress = new Progress(order.tasks, { send: call.onUpdate, tellsUse });
  try {
    const { results, leftOut, started } = await runTasks(order, {
      services,
      toolCallId,
      signal,
      onProgress: (task, event, used) => progress.note(task, event, used),
    });
    const used = results.reduce((sum, result) => plus(sum, result.used), nothingUsed);
    // Each result includes the subagents below its own.
    return resultOf(results, leftOut, plus(used, { subagents: started }));
  } finally {
    progress.stop();
  }
}

/** The immediate result for the model, with the way to follow what it has started. */
function startedResult({ tasks }: TaskOrder, { names, areCalledByName }: OfferedTools): ToolResult {
  const ids = tasks.map(({ id }) => id);
  const how = names.length === 0 ? "" : ` Follow with ${names.join(", ")}`;
  const by = how === "" ? "" : areCalledByName ? " by call_tool." : ".";
  const text = `Started in the background: ${ids.join(", ")}.${how}${by}`;
  const [id] = ids;
  return { content: [{ type: "text", text }], details: ids.length === 1 ? { id } : { ids } };
}

function resultOf(
  results: readonly TaskResult[],
  leftOut: readonly string[],
  used: Consumption,
): ToolResult {
  const parts = results.map(resultText);
  if (leftOut.length > 0) {
    const shown = leftOut.slice(0, MAX_NAMES).join(", ");
    const more = leftOut.length > MAX_NAMES ? ` and ${leftOut.length - MAX_NAMES} more` : "";
    parts.push(
      `Isolated tasks were without these (too large, unreadable, or repositories of their own): ${shown}${more}`,
    );
  }
  const text = parts.join("\n\n");
  const details = {
    results: results.map(withPatchNames),
    used,
    ...(leftOut.length > 0 && { leftOut }),
    ...(results.some(({ untrusted }) => untrusted) && { untrusted: true }),
  };
  // Partial success is a normal result; the call fails only if all tasks fail.
  if (results.every(({ exitCode }) => exitCode !== 0)) throw new ToolError(text, details);
  return { content: [{ type: "text", text }], details };
}

interface TaskProgress {
  readonly id: string;
  readonly agent: string;
  readonly description: string | undefined;
  activity: string;
  used: Consumption;
}

interface ProgressOptions {
  readonly send: (partial: ToolResult) => void;
  /** Whether to report use immediately. */
  readonly tellsUse: boolean;
}

/** Reports the activity of a call's tasks, at most a few times per second. */
class Progress {
  readonly #tasks: Map<string, TaskProgress>;
  readonly #options: ProgressOptions;
  #timer: NodeJS.Timeout | undefined;
  #isStale = false;

  constructor(tasks: readonly Task[], options: ProgressOptions) {
    this.#options = options;
    this.#tasks = new Map(
      tasks.map(({ id, agent, description }) => [
        id,
        { id, agent: agent.name, description, activity: "waiting", used: nothingUsed },
      ]),
    );
  }

  get used(): Consumption {
    return [...this.#tasks.values()].reduce((sum, { used }) => plus(sum, used), nothingUsed);
  }

  note({ id }: Task, event: SessionEvent, used: Consumption): void {
    const task = this.#tasks.get(id);
    const activity = activityOf(event);
    if (task === undefined || (activity === undefined && task.used === used)) return;
    const isMore = task.used !== used;
    task.activity = activity ?? task.activity;
    task.used = used;
    if (isMore && this.#options.tellsUse) this.#tell();
    else this.#request();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#isStale = false;
  }

  #request(): void {
    if (this.#timer !== undefined) {
      this.#isStale = true;
      return;
    }
    this.#isStale = false;
    this.#tell();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#isStale) this.#request();
    }, UPDATE_INTERVAL_MS);
  }

  #tell(): void {
    const tasks = [...this.#tasks.values()].map((task) => ({ ...task }));
    const text = tasks.map(({ id, activity }) => `${id}: ${activity}`).join("\n");
    this.#options.send({ content: [{ type: "text", text }], details: { tasks, used: this.used } });
  }
}

function activityOf(event: SessionEvent): string | undefined {
  switch (event.type) {
    case "agent_start":
      return "working";
    case "tool_execution_start":
      return event.toolName;
    case "auto_retry_start":
      return "waiting to try again";
    case "agent_end":
      return event.willRetry ? undefined : "done";
    case "message_end":
      return event.message.role === "assistant" ? "thinking" : undefined;
    default:
      return undefined;
  }
}
