import type { Agent, RunOutcome } from "@tau-agent/agent";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import type { Compaction } from "./compaction/compaction.ts";
import type { Retry } from "./retry.ts";

/** What follows a run by itself. */
export type Continuation = "retry" | "compact" | "none";

/** What {@link RunContinuation} works with. */
export interface RunContinuationOptions {
  readonly agent: Agent;
  readonly retry: Retry;
  readonly compaction: Compaction;
}

/** Decides whether a run that ended goes on by itself: a retry, or a compaction after an overflow. */
export class RunContinuation {
  readonly #options: RunContinuationOptions;
  /** One overflow is answered by one compaction; a second in a row is final. */
  #hasCompacted = false;

  constructor(options: RunContinuationOptions) {
    this.#options = options;
  }

  /** What follows this run. */
  decide(outcome: RunOutcome): Continuation {
    const { retry, compaction } = this.#options;
    if (outcome.aborted || outcome.failure !== undefined) return "none";
    if (outcome.reply?.error?.code === "context_overflow") {
      return this.#hasCompacted || !compaction.isEnabled ? "none" : "compact";
    }
    return retry.wants(outcome) ? "retry" : "none";
  }

  /**
   * Does what {@link decide} said.
   *
   * @returns whether the run goes on from the conversation as it is then
   */
  async proceed(
    continuation: Continuation,
    outcome: RunOutcome,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { retry } = this.#options;
    if (continuation === "none") {
      await this.#conclude(outcome, signal);
      return false;
    }
    this.#dropFailedReply(outcome);
    if (continuation === "compact") return this.#compact(signal);
    return retry.waitForNext(outcome, signal);
  }

  /** A reply came that did not fail. */
  async noteReply(): Promise<void> {
    this.#hasCompacted = false;
    await this.#options.retry.noteSuccess();
  }

  async #conclude(outcome: RunOutcome, signal: AbortSignal): Promise<void> {
    const { retry, compaction } = this.#options;
    const message = outcome.reply?.message;
    await retry.noteFailure(outcome.aborted ? "Retry cancelled" : message?.errorMessage);
    const hasReplied = message !== undefined && message.stopReason !== "error";
    if (hasReplied && !outcome.aborted && compaction.isDue) {
      await quietly(compaction.run({ reason: "threshold" }, signal));
    }
  }

  async #compact(signal: AbortSignal): Promise<boolean> {
    const { compaction, agent } = this.#options;
    this.#hasCompacted = true;
    const isDone = await quietly(compaction.run({ reason: "overflow", willRetry: true }, signal));
    // The conversation was built anew from the file, which keeps the failed reply.
    agent.messages = withoutFailedTail(agent.messages);
    return isDone && !signal.aborted;
  }

  /** The failed attempt stays in the file and leaves the context. */
  #dropFailedReply({ reply }: RunOutcome): void {
    const { agent } = this.#options;
    agent.messages = agent.messages.filter((message) => message !== reply?.message);
  }
}

/** Its events say how it ended. */
async function quietly(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch {
    return false;
  }
}

function withoutFailedTail(messages: readonly AgentMessage[]): AgentMessage[] {
  const end = messages.findLastIndex(
    (message) => message.role !== "assistant" || message.stopReason !== "error",
  );
  return messages.slice(0, end + 1);
}
