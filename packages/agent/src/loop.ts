import type { StreamResult } from "@tau-agent/ai";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { emit, type Run } from "./run.ts";
import { runTurn } from "./turn.ts";

/** How a run ended. */
export interface RunOutcome {
  /** Everything the run added to the conversation. */
  readonly messages: readonly AgentMessage[];
  /** The last reply, when there was one. */
  readonly reply: StreamResult | undefined;
  readonly aborted: boolean;
}

/**
 * Turns until nothing is left: tool results go back to the model, steering messages come in between
 * turns, follow-ups when the model has nothing more to do. A failed or aborted reply ends the run;
 * what is queued then stays queued.
 */
export async function runLoop(run: Run, input: readonly AgentMessage[]): Promise<RunOutcome> {
  await emit(run, { type: "agent_start" });
  let reply: StreamResult | undefined;
  let pending: readonly AgentMessage[] = input;
  for (;;) {
    const turn = await runTurn(run, pending);
    reply = turn.reply;
    const { stopReason } = reply.message;
    if (run.signal.aborted || stopReason === "error" || stopReason === "aborted") break;
    pending = run.steering.take();
    if (pending.length === 0 && !turn.continues) {
      pending = run.followUp.take();
      if (pending.length === 0) break;
    }
  }
  const aborted = run.signal.aborted || reply?.message.stopReason === "aborted";
  return { messages: run.added, reply, aborted };
}
