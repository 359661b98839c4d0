import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { SparseSet } from "@tau-agent/system";
import type { Admission } from "./admission.ts";
import type { AgentQueues } from "./agent-queues.ts";
import type { ProblemReport } from "./problem-report.ts";
import type { PromptIntake } from "./prompt-intake.ts";
import type { RunDriver } from "./run-driver.ts";

export interface JobNoticesOptions {
  readonly agent: AgentQueues;
  readonly driver: Pick<RunDriver, "isRunning">;
  readonly intake: Pick<PromptIntake, "deliver">;
  readonly admission: Pick<Admission, "isClosed">;
  readonly problems: ProblemReport;
}

/** Tells the model about ended background jobs: at its next turn, or in a new run. */
export class JobNotices {
  readonly #options: JobNoticesOptions;
  /** Messages that wait for a turn of the current run. */
  readonly #waiting = new SparseSet<AgentMessage>();

  constructor(options: JobNoticesOptions) {
    this.#options = options;
  }

  /** Adds a message to the current run; while idle, starts a run with it. */
  deliver(message: AgentMessage): void {
    const { agent, driver, intake, admission, problems } = this.#options;
    if (admission.isClosed) return;
    if (driver.isRunning) {
      this.#waiting.add(message);
      agent.nextTurn.enqueue(message);
      return;
    }
    intake.deliver(message, "followUp").catch((error: unknown) => problems.add(error));
  }

  /** Takes the messages that got no turn before the run ended; they start the next run. */
  take(): AgentMessage[] {
    const { nextTurn } = this.#options.agent;
    const left = nextTurn.messages.filter((message) => this.#waiting.has(message));
    for (const message of left) nextTurn.remove(message);
    this.#waiting.clear();
    return left;
  }
}
