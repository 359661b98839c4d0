import type { AgentSession, PromptAcceptance, PromptResult } from "@tau-agent/coding-agent";
import type { Ticket } from "./prompt-queue.ts";

/** The pause between attempts to stop a prompt that is still being accepted. */
const PAUSE_MS = 20;

/**
 * Submits a prompt and waits for its end. When its ticket is cancelled, the run is aborted and the queue cleared. An
 * extension's command that continues anyway is not awaited.
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
