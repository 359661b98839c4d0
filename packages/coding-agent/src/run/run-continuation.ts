import type { RunOutcome } from "@tau-agent/agent";
import type { AnsweringModel, Fallback, Retry } from "@tau-agent/models";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { type Conversation, failedAttempt } from "@tau-agent/sessions/log";
import type { Compaction } from "../compaction/compaction.ts";
import { LengthContinuation } from "./length-continuation.ts";
import type { SessionHooks } from "./session-hooks.ts";
import { TodoReminder, type TodoReminderOptions } from "./todo-reminder.ts";

/** What automatically follows a run. */
export type Continuation = "retry" | "fallback" | "compact" | "continue" | "remind" | "none";

export interface RunContinuationOptions extends TodoReminderOptions {
  readonly conversation: Pick<Conversation, "messages" | "drop">;
  readonly retry: Retry;
  readonly answering: AnsweringModel;
  readonly compaction: Compaction;
  readonly hooks: Pick<SessionHooks, "beforeSettle"> | undefined;
}

/**
 * Decides whether a run continues automatically: with a retry, with another model after the last retry, with a
 * compaction after an overflow, with the rest of a reply that was cut, or with a reminder of open todos.
 */
export class RunContinuation {
  readonly #options: RunContinuationOptions;
  readonly #reminder: TodoReminder;
  readonly #cutReply: LengthContinuation;
  /** Whether an overflow has already led to a compaction; a second overflow in a row is final. */
  #hasCompacted = false;
  /** The fallback that answers next. */
  #fallback: Fallback | undefined;

  constructor(options: RunContinuationOptions) {
    this.#options = options;
    this.#reminder = new TodoReminder(options);
    this.#cutReply = new LengthContinuation(options);
  }

  /** Decides what follows a run; a promise only if fallbacks have to be checked. */
  decide(outcome: RunOutcome, signal: AbortSignal): Continuation | Promise<Continuation> {
    const { retry, answering, compaction } = this.#options;
    this.#reminder.noteRun(outcome);
    this.#cutReply.noteRun(outcome);
    if (outcome.aborted || outcome.isPaused || outcome.failure !== undefined) return "none";
    if (outcome.reply?.error?.code === "context_overflow") {
      return this.#hasCompacted || !compaction.isEnabled ? "none" : "compact";
    }
    if (retry.wants(outcome)) return "retry";
    if (answering.mayFollow(codeOf(outcome)) && !retry.isCancelled) {
      return this.#findFallback(outcome, signal).then((isFound) => (isFound ? "fallback" : "none"));
    }
    if (this.#cutReply.isDue(outcome)) return "continue";
    return this.#reminder.isDue(outcome) ? "remind" : "none";
  }

  /**
   * Carries out the decision of {@link decide}.
   *
   * @returns the messages to add to the conversation before it continues; undefined if the run is over
   */
  async proceed(
    continuation: Continuation,
    outcome: RunOutcome,
    signal: AbortSignal,
  ): Promise<readonly AgentMessage[] | undefined> {
    if (continuation !== "retry" && continuation !== "fallback" && continuation !== "compact") {
      await this.#conclude(outcome, signal);
      if (continuation === "remind") return this.#remind(outcome, signal);
      if (continuation === "continue") return this.#continueCutReply(signal);
      if (!(await this.#isKeptGoing(outcome))) return undefined;
      this.#dropFailedAttempt();
      return [];
    }
    const restore = this.#dropFailedAttempt();
    const goesOn = await this.#goOn(continuation, outcome, signal);
    if (!goesOn) restore();
    return goesOn ? [] : undefined;
  }

  async #goOn(
    continuation: "retry" | "fallback" | "compact",
    outcome: RunOutcome,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { retry } = this.#options;
    if (continuation === "compact") return this.#compact(signal);
    if (continuation === "retry") {
      const came = await retry.waitForNext(outcome, signal);
      if (came !== "failed") return came === "retry";
      if (!(await this.#findFallback(outcome, signal))) return false;
    }
    return this.#fallBack(outcome, signal);
  }

  async #findFallback(outcome: RunOutcome, signal: AbortSignal): Promise<boolean> {
    this.#fallback = await this.#options.answering.find({ code: codeOf(outcome) }, signal);
    return this.#fallback !== undefined;
  }

  async #fallBack({ reply }: RunOutcome, signal: AbortSignal): Promise<boolean> {
    const { retry, answering } = this.#options;
    await retry.noteFailure(reply?.message.errorMessage);
    if (signal.aborted || this.#fallback === undefined) return false;
    await answering.use(this.#fallback);
    return !signal.aborted;
  }

  /** Asks extensions for one more turn before the session settles. */
  async #isKeptGoing({ aborted, failure, reply }: RunOutcome): Promise<boolean> {
    const { agent, hooks } = this.#options;
    const hasQueued = agent.steering.size + agent.followUp.size > 0;
    if (hooks === undefined || aborted || failure !== undefined || hasQueued) return false;
    return hooks.beforeSettle(reply?.message.stopReason === "error" ? "error" : "completed");
  }

  /** Notes a reply that did not fail. */
  async noteReply(): Promise<void> {
    this.#hasCompacted = false;
    this.#options.answering.noteReply();
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

  /** Checked again: while the end of the run was announced, messages may have been queued, or a budget used up. */
  async #remind(outcome: RunOutcome, signal: AbortSignal): Promise<AgentMessage[] | undefined> {
    if (signal.aborted || !this.#reminder.isDue(outcome)) return undefined;
    const message = await this.#reminder.remind();
    return signal.aborted ? undefined : [message];
  }

  async #continueCutReply(signal: AbortSignal): Promise<AgentMessage[] | undefined> {
    if (signal.aborted) return undefined;
    const message = await this.#cutReply.continue();
    return signal.aborted ? undefined : [message];
  }

  async #compact(signal: AbortSignal): Promise<boolean> {
    const { compaction } = this.#options;
    this.#hasCompacted = true;
    const isDone = await quietly(compaction.run({ reason: "overflow", willRetry: true }, signal));
    // The compaction has read the conversation from the file, which includes the failed reply.
    this.#dropFailedAttempt();
    return isDone && !signal.aborted;
  }

  /**
   * Removes the failed attempt from the context; it stays in the file.
   *
   * @returns a function that restores it if no other attempt follows, so that clients see the same as after a reload
   */
  #dropFailedAttempt(): () => void {
    const { conversation } = this.#options;
    return conversation.drop(failedAttempt(conversation.messages));
  }
}

/** The code of a run's last failure; a request that was never sent failed because a key was missing. */
function codeOf({ reply }: RunOutcome): string | undefined {
  if (reply?.message.stopReason !== "error") return undefined;
  return reply.error?.code ?? (reply.cause instanceof SessionError ? reply.cause.code : undefined);
}

/** Ignores the failure, because events report it. */
async function quietly(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch {
    return false;
  }
}

/** Whether an event ends a reply that neither failed nor was aborted. */
export function isWholeReply(event: SessionEvent): boolean {
  if (event.type !== "message_end" || event.message.role !== "assistant") return false;
  const { stopReason } = event.message;
  return stopReason !== "error" && stopReason !== "aborted";
}
