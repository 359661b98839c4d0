import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { ABORTED_TEXT, failedReply, type Reply } from "./failed-reply.ts";
import type { MessageQueue } from "./message-queue.ts";
import { addMessage, emit, type Run } from "./run.ts";
import { type ResumedReply, runTurn, type TurnOutcome } from "./turn.ts";

/** How a run ended. */
export interface RunOutcome {
  /** Everything the run added to the conversation. */
  readonly messages: readonly AgentMessage[];
  /** The last reply, if there was one. */
  readonly reply: Reply | undefined;
  readonly aborted: boolean;
  /** Whether the owner paused the run before the model was done. */
  readonly isPaused?: boolean;
  /** Why a message could not be recorded or an event could not be sent, if that happened. */
  readonly failure?: unknown;
}

/**
 * Runs turns until nothing is left to do: tool results go back to the model, steering messages are
 * delivered between turns, and follow-ups when the model has nothing more to do. A failed or
 * aborted reply ends the run; the queues keep their messages.
 */
export async function runLoop(
  run: Run,
  input: readonly AgentMessage[],
  resumed?: ResumedReply,
): Promise<RunOutcome> {
  let reply: Reply | undefined;
  let isPaused = false;
  try {
    await emit(run, { type: "agent_start" });
    ({ reply, isPaused = false } = await runTurns(run, input, resumed));
  } catch (error) {
    run.failure ??= error;
  }
  const isSuspended = run.options.hooks?.isSuspended?.() === true;
  const aborted = isSuspended || run.signal.aborted || reply?.message.stopReason === "aborted";
  const outcome = { messages: run.added, reply, aborted, ...(isPaused && { isPaused }) };
  return run.failure === undefined ? outcome : { ...outcome, failure: run.failure };
}

async function runTurns(
  run: Run,
  input: readonly AgentMessage[],
  resumed: ResumedReply | undefined,
): Promise<{ readonly reply: Reply; readonly isPaused?: boolean }> {
  let left = resumed;
  let pending: readonly AgentMessage[] = input;
  let source: MessageQueue | undefined;
  /** Messages that the end of the previous turn added. */
  let inserted: readonly AgentMessage[] = [];
  for (;;) {
    const along = left === undefined ? run.nextTurn.take() : [];
    const messages = [...inserted, ...pending, ...along];
    const turn = await runTurn(run, messages, left).catch((error: unknown) => {
      // Messages that left their queue but did not reach the conversation are put back.
      const isLeft = (message: AgentMessage): boolean => !run.added.includes(message);
      source?.putBack(pending.filter(isLeft));
      run.nextTurn.putBack(along.filter(isLeft));
      throw error;
    });
    left = undefined;
    if (turn.isSuspended) {
      return {
        reply: turn.reply,
        isPaused: !run.signal.aborted && run.options.pauses?.() === true,
      };
    }
    inserted = await insertsAfter(run, turn);
    if (inserted.length > 0) {
      source = run.steering;
      pending = source.take();
      continue;
    }
    const { stopReason } = turn.reply.message;
    const hasFailed = stopReason === "error" || stopReason === "aborted";
    if (hasFailed) return turn;
    if (run.signal.aborted) {
      return { reply: turn.continues ? await endAborted(run, turn.reply) : turn.reply };
    }
    if (turn.continues && run.options.pauses?.()) return { reply: turn.reply, isPaused: true };
    source = run.steering;
    pending = source.take();
    if (pending.length === 0 && !turn.continues) {
      source = undefined;
      pending = run.options.conclude?.(turn.reply.message) ?? [];
    }
    if (pending.length === 0 && !turn.continues) {
      source = run.followUp;
      pending = source.take();
      if (pending.length === 0 && run.nextTurn.size === 0) return { reply: turn.reply };
    }
  }
}

/** A stopped reply is followed by another one, unless the run ends here anyway. */
async function insertsAfter(
  run: Run,
  { reply, toolResults, stoppedBy }: TurnOutcome,
): Promise<readonly AgentMessage[]> {
  if (stoppedBy === undefined || run.signal.aborted || run.failure !== undefined) return [];
  return stoppedBy.resume({ reply: reply.message, toolResults });
}

/**
 * After an abort during tool calls, adds a final reply, because clients read the outcome of a run from its last reply.
 */
async function endAborted(run: Run, { message: last }: Reply): Promise<Reply> {
  const message = failedReply(last, { stopReason: "aborted", errorMessage: ABORTED_TEXT });
  await emit(run, { type: "turn_start" });
  await addMessage(run, message);
  await emit(run, { type: "turn_end", message, toolResults: [] });
  return { message };
}
