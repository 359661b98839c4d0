/**
 * The work of three subagents at once: each in a worktree of its own, verified there, repaired if it
 * has to be, and only then merged.
 */
import type { RpcClient } from "@tau-agent/rpc-client";
import { PAPERS_PROMPT } from "./papers.ts";
import { fact, heading } from "./screen.ts";
import type { Stage } from "./stage.ts";
import { TaskBoard } from "./task-board.ts";

type SessionEvent = Parameters<Parameters<RpcClient["onEvent"]>[0]>[0];

/** What a `task` call reports: about running tasks, and at the end. */
interface TaskDetails {
  readonly tasks?: readonly { readonly id: string; readonly activity: string }[];
  readonly results?: readonly {
    readonly id: string;
    readonly status: string;
    readonly patch?: { readonly status: string; readonly files: readonly string[] };
    readonly verification?: { readonly retriesUsed: number };
  }[];
}

const RUN_LIMIT_MS = 10 * 60_000;

/** Has three files written by three subagents and shows their progress side by side. */
export async function showThreeSubagents(client: RpcClient, stage: Stage): Promise<void> {
  heading("Three subagents at once, each checked before its work comes back");
  let board: TaskBoard | undefined;
  const unsubscribe = client.onEvent((event) => {
    if (event.type === "tool_execution_start" && event.toolName === "task") {
      board ??= new TaskBoard(stage, taskIds(event.args));
    } else if (board !== undefined) update(board, event);
  });
  try {
    await client.promptAndWait(PAPERS_PROMPT, { timeoutMs: RUN_LIMIT_MS });
  } finally {
    unsubscribe();
  }
  const { subagents } = await client.getSessionStats();
  fact("Subagents", `${subagents?.count ?? 0}, with ${subagents?.tokens.total ?? 0} tokens`);
}

function taskIds(args: unknown): string[] {
  const tasks: unknown = Object(args).tasks;
  return Array.isArray(tasks) ? tasks.map((task) => String(Object(task).id)) : [];
}

function update(board: TaskBoard, event: SessionEvent): void {
  switch (event.type) {
    case "tool_execution_update": {
      if (event.toolName !== "task") break;
      const { tasks = [] } = event.partialResult.details as TaskDetails;
      // "done" is said before the work is checked.
      for (const { id, activity } of tasks) {
        if (activity !== "done") board.setActivity(id, activity);
      }
      break;
    }
    case "subagent_verification_start":
      board.setActivity(event.id, "checking");
      break;
    case "subagent_verification_command_end": {
      const { id, commandName: name, attempt, exitCode } = event;
      board.addCheck(id, { name, attempt, hasPassed: exitCode === 0 });
      break;
    }
    case "subagent_end":
      board.setActivity(event.id, event.exitCode === 0 ? "passed" : "failed");
      break;
    case "tool_execution_end": {
      if (event.toolName !== "task") break;
      const { results = [] } = event.result.details as TaskDetails;
      for (const result of results) board.setOutcome(result.id, outcomeOf(result));
    }
  }
}

function outcomeOf({ status, patch, verification }: NonNullable<TaskDetails["results"]>[number]) {
  const repairs = verification?.retriesUsed ?? 0;
  const words = repairs === 0 ? "" : `, repaired ${repairs === 1 ? "once" : `${repairs} times`}`;
  return patch === undefined ? status : `${patch.status}: ${patch.files.join(", ")}${words}`;
}
