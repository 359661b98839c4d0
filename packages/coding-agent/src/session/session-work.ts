import type { Conversation, SessionLog } from "@tau-agent/sessions/log";
import { type HostRequests, Withdrawal } from "@tau-agent/system";
import type { ToolGate } from "../approvals/tool-gate.ts";
import type { SessionPermissions } from "../permissions/session-permissions.ts";
import type { Admission } from "../run/admission.ts";
import type { BashCommands } from "../run/bash-commands.ts";
import type { PromptIntake } from "../run/prompt-intake.ts";
import type { RunDriver } from "../run/run-driver.ts";
import type { SessionBudget } from "../subagents/budgets/session-budget.ts";

export interface SessionWorkOptions {
  readonly admission: Admission;
  readonly driver: RunDriver;
  readonly intake: PromptIntake;
  readonly bash: BashCommands;
  readonly conversation: Conversation;
  readonly budget: SessionBudget;
  readonly gate: ToolGate;
  readonly permissions: Pick<SessionPermissions, "endGrants">;
  readonly requests: HostRequests;
}

/** Work that no run may overlap: compactions, moves in the tree, session changes. */
export class SessionWork {
  readonly #options: SessionWorkOptions;

  constructor(options: SessionWorkOptions) {
    this.#options = options;
  }

  /**
   * Stops the current run and does the work. Only its start goes through the admission, so that prompts are queued
   * meanwhile.
   */
  async perform<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { admission, driver } = this.#options;
    const { running } = await admission.admit(async () => {
      await driver.hold();
      return { running: driver.perform(work) };
    });
    return running;
  }

  /** Stops the current run; resolves once it has ended. Queued messages run next. */
  async abort(): Promise<void> {
    const { admission, driver, intake } = this.#options;
    // A prompt that is still being accepted will start the run that this abort is meant for.
    if (!driver.isBusy) await Promise.all([intake.settle(), admission.settled()]);
    await driver.abort();
  }

  async waitForIdle(): Promise<void> {
    const { admission, driver } = this.#options;
    await admission.settled();
    await driver.waitForIdle();
  }

  replaceLog(next: () => SessionLog, isContinued: boolean): Promise<void> {
    const { admission, bash, conversation, budget, permissions } = this.#options;
    return admission.admit(async () => {
      await this.#endConversation(bash.stop());
      // Created before the old log is closed, so that a failure leaves the session unchanged.
      await conversation.replace(next(), isContinued);
      permissions.endGrants();
      budget.startOver();
    });
  }

  /** Ends everything that runs. Nothing more is admitted. */
  async end(): Promise<void> {
    const { admission, driver, intake, bash, gate, requests } = this.#options;
    // Open questions stay in the file, to be repeated when the session is opened again.
    gate.suspend();
    requests.end();
    const bashEnded = bash.close();
    intake.dropQueued();
    await driver.hold();
    await Promise.all([intake.settle(), admission.settled()]);
    await this.#endConversation(bashEnded);
    await intake.abandonHandled();
  }

  /** Ends the run, drops queued messages, and reports both. */
  async #endConversation(bashEnded: Promise<void>): Promise<void> {
    const { driver, intake, requests } = this.#options;
    intake.dropQueued();
    requests.withdrawAll(new Withdrawal("end"), ({ method }) => method !== "dialog");
    await driver.hold();
    await bashEnded;
    await driver.release();
    await intake.abandon();
  }
}
