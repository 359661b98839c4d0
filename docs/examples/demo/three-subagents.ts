/**
 * A subagent's work: done in an isolated worktree, verified there, repaired, and only then merged.
 */
import { type RpcClient, RpcError } from "@tau-agent/rpc-client";
import { CHANGELOG_PROMPT } from "./changelog.ts";
import { fact, heading, showPatch } from "./screen.ts";

type SessionEvent = Parameters<Parameters<RpcClient["onEvent"]>[0]>[0];

/** What a `task` call reports about its only task. */
interface TaskDetails {
  readonly results?: readonly {
    readonly status: string;
    readonly patch?: { readonly status: string; readonly files: readonly string[] };
    readonly verification?: { readonly status: string; readonly retriesUsed: number };
  }[];
}

const RUN_LIMIT_MS = 10 * 60_000;

export async function showThirdAct(client: RpcClient): Promise<void> {
  heading("A subagent whose work is checked before it comes back");
  const unsubscribe = client.onEvent(show);
  try {
    await client.promptAndWait(CHANGELOG_PROMPT, { timeoutMs: RUN_LIMIT_MS });
    const { subagents } = await client.getSessionStats();
    fact("Subagents", ` ${subagents?.count ?? 0}, ${subagents?.tokens.total ?? 0} tokens`);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    fact("Refused", error.message);
  } finally {
    unsubscribe();
  }
}

function show(event: SessionEvent): void {
  switch (event.type) {
    case "subagent_start":
      fact("Starts", `${event.agent}${event.isolated ? ", in a git worktree of its own" : ""}`);
      break;
    case "subagent_verification_command_end": {
      const { commandName, attempt, exitCode, durationMs } = event;
      const verdict = exitCode === 0 ? "passes" : `fails with exit code ${exitCode}`;
      showPatch(
        `${exitCode === 0 ? "+" : "-"} attempt ${attempt}: ${commandName} ${verdict}, ${durationMs} ms`,
      );
      break;
    }
    case "tool_execution_end":
      if (event.toolName === "task") showResult(event.result.details as TaskDetails);
  }
}

function showResult({ results = [] }: TaskDetails): void {
  for (const { status, patch, verification } of results) {
    const { retriesUsed = 0, status: verdict = "not asked for" } = verification ?? {};
    const repairs = retriesUsed === 0 ? "" : ` after ${retriesUsed} repair`;
    fact("Ends", `${status}; verification ${verdict}${repairs}`);
    if (patch !== undefined) fact("Patch", `${patch.status}: ${patch.files.join(", ")}`);
  }
}
