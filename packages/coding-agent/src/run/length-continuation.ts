import type { RunOutcome } from "@tau-agent/agent";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { CONTINUE_TYPE } from "@tau-agent/rpc-protocol/plain";
import type { SettingsStore } from "@tau-agent/system";

export interface LengthContinuationOptions {
  readonly settings: Pick<SettingsStore, "get">;
  readonly emit: (event: SessionEvent) => void | Promise<void>;
}

/** Continues a reply that was cut by the output limit, once per prompt. */
export class LengthContinuation {
  readonly #options: LengthContinuationOptions;
  #hasContinued = false;

  constructor(options: LengthContinuationOptions) {
    this.#options = options;
  }

  /** Notes the end of a run; a prompt in it resets the count. */
  noteRun({ messages }: RunOutcome): void {
    if (messages.some(({ role }) => role === "user")) this.#hasContinued = false;
  }

  /** Whether this run's reply should be continued. */
  isDue({ reply }: RunOutcome): boolean {
    const isCut = reply?.message.stopReason === "length";
    return isCut && !this.#hasContinued && this.#options.settings.get("continueOnLength");
  }

  /** Announces the continuation and returns the message that asks the model for it. */
  async continue(): Promise<AgentMessage> {
    this.#hasContinued = true;
    await this.#options.emit({ type: "auto_continue", reason: "length" });
    return {
      role: "custom",
      customType: CONTINUE_TYPE,
      content: `<system-reminder>
Your reply reached the output limit and was cut. Continue exactly where the text stopped, without repeating any of it. Tool calls of the cut reply were not run: make them again, in smaller parts if they were long.
</system-reminder>`,
      display: false,
      timestamp: Date.now(),
    };
  }
}
