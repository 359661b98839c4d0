import type { RunOutcome } from "@tau-agent/agent";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import type { Conversation } from "@tau-agent/sessions/log";
import type { SessionTelemetry } from "../telemetry/session-telemetry.ts";
import type { BashCommands } from "./bash-commands.ts";
import type { ProblemReport } from "./problem-report.ts";
import type { PromptIntake } from "./prompt-intake.ts";
import type { PromptOrigins } from "./prompt-origins.ts";
import type { RunContinuation } from "./run-continuation.ts";

export interface RunEndOptions {
  readonly continuation: RunContinuation;
  readonly intake: PromptIntake;
  readonly problems: ProblemReport;
  readonly bash: BashCommands;
  readonly conversation: Pick<Conversation, "log">;
  readonly origins: PromptOrigins;
  readonly telemetry?: Pick<SessionTelemetry, "endRun"> | undefined;
  /** Records the state of the files after a prompt. */
  readonly rewind: { endPrompt(): Promise<void> };
  readonly emit: (event: SessionEvent, promptId?: string) => void | Promise<void>;
}

/** Records and announces the end of a run, and the state when nothing follows it. */
export class RunEnd {
  readonly #options: RunEndOptions;

  constructor(options: RunEndOptions) {
    this.#options = options;
  }

  /** Ends a run and returns the messages to continue with; undefined if it is over. */
  async end(
    input: readonly AgentMessage[],
    outcome: RunOutcome,
    signal: AbortSignal,
  ): Promise<readonly AgentMessage[] | undefined> {
    const { telemetry } = this.#options;
    try {
      const next = await this.#end(input, outcome, signal);
      const aborted = outcome.aborted || signal.aborted;
      if (next === undefined) telemetry?.endRun({ ...outcome, aborted });
      return next;
    } catch (error) {
      telemetry?.endRun({ ...outcome, failure: error });
      throw error;
    }
  }

  async #end(
    input: readonly AgentMessage[],
    outcome: RunOutcome,
    signal: AbortSignal,
  ): Promise<readonly AgentMessage[] | undefined> {
    const { continuation, intake, problems, bash, conversation, emit } = this.#options;
    const decided = continuation.decide(outcome, signal);
    const decision = typeof decided === "string" ? decided : await decided;
    // The run may have been aborted while fallbacks were checked.
    const ended = decision === decided ? outcome : { ...outcome, aborted: signal.aborted };
    const isOver = decision === "none";
    const takeBack = isOver ? intake.noteRunEnd(input, ended) : undefined;
    if (outcome.failure !== undefined) problems.add(outcome.failure);
    problems.attempt(() => bash.recordHeld());
    problems.attempt(() => conversation.log.endTurn());
    // First, because clients that are notified may change files themselves.
    await this.#options.rewind.endPrompt();
    // A reminder or a continuation is not a retry: the replies of the run stay.
    const willRetry = decision === "retry" || decision === "fallback" || decision === "compact";
    await emit({ type: "agent_end", messages: [...outcome.messages], willRetry });
    const next = await continuation.proceed(decision, outcome, signal);
    // An extension may have asked for another turn.
    if (next !== undefined) takeBack?.();
    else if (!isOver) {
      intake.noteRunEnd(input, { ...outcome, aborted: signal.aborted });
    }
    return next;
  }

  /** Announces that nothing is running or queued. */
  async settle(aborted: boolean): Promise<void> {
    const { intake, problems, bash, origins, emit } = this.#options;
    // Read synchronously: another run may begin before listeners have received the end of this one.
    const promptId = origins.end();
    // Records results that arrived while listeners received the run's end.
    problems.attempt(() => bash.recordHeld());
    await emit({ type: "agent_settled", aborted }, promptId);
    await intake.announceResults();
  }
}
