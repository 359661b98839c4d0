import type { AgentSession, PromptAcceptance, PromptResult } from "@tau-agent/coding-agent";
import type { Ticket } from "./prompt-queue.ts";

/** Between attempts to stop a prompt that was just being taken in. */
const PAUSE_MS = 20;

/**
 * Hands a prompt in and waits for its end. Once its ticket is cancelled, what runs and what is queued is
 * stopped; an extension's command that goes on all the same is not waited for.
 *
 * @returns undefined if it was stopped
 */
export async function stopTurn(
  session: Pick<AgentSession, "abort" | "clearQueue">,
  ticket: Ticket,
  submit: () => Promise<PromptAcceptance>,
): Promise<PromptResult | undefined> {
  let isOver = false;
  const { promise: stopped, resolve: onStopped } = Promise.withResolvers<undefined>();
  const stop = async (): Promise<void> => {
    while (!isOver) {
      await session.clearQueue();
      await session.abort();
      onStopped(undefined);
      if (!isOver) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  try {
    const accepting = submit();
    ticket.onCancel(() => void stop().catch(() => onStopped(undefined)));
    const { disposition, result } = await accepting;
    return await (disposition === "handled" ? Promise.race([result, stopped]) : result);
  } finally {
    isOver = true;
  }
}
