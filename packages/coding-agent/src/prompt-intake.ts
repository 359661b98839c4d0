import type { Agent, RunOutcome } from "@tau-agent/agent";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import type { AgentMessage, UserMessage } from "@tau-agent/rpc-protocol/messages";
import type { Admission } from "./admission.ts";
import { SessionError } from "./errors.ts";
import type { PromptInput, UserInput } from "./input.ts";
import type { PromptAcceptance, PromptOptions } from "./prompt-options.ts";
import { type PromptResult, PromptTracker, resultEvent } from "./prompt-tracker.ts";
import { QueueReport } from "./queue-report.ts";
import type { RunDriver } from "./run-driver.ts";

/** What {@link PromptIntake} works with. */
export interface PromptIntakeOptions {
  readonly agent: Agent;
  readonly admission: Admission;
  readonly driver: RunDriver;
  readonly userInput: UserInput;
  /** Refuses a prompt that could never be answered. */
  readonly check: () => Promise<void>;
  readonly emit: (event: SessionEvent) => void | Promise<void>;
}

/** Takes prompts in, as the input of a run or into a queue, and sees each to its one result. */
export class PromptIntake {
  readonly #options: PromptIntakeOptions;
  readonly #prompts = new PromptTracker();
  readonly #queues: QueueReport;

  constructor(options: PromptIntakeOptions) {
    this.#options = options;
    this.#queues = new QueueReport(options.agent, (event) => void options.emit(event));
  }

  /** Takes a prompt in; while a run is on, only with a `streamingBehavior`. */
  submit(text: string, options: PromptOptions): Promise<PromptAcceptance> {
    const { admission, driver, check, userInput } = this.#options;
    return admission.admit(async () => {
      const { streamingBehavior } = options;
      if (driver.isRunning && streamingBehavior === undefined) throw new SessionError("busy");
      await check();
      const message = await userInput.build(text, options);
      return this.#accept(message, streamingBehavior, { id: options.id, isAnnounced: true });
    });
  }

  /** Queues a message; while idle it starts a run. */
  enqueue(
    text: string,
    input: PromptInput,
    behavior: "steer" | "followUp",
  ): Promise<PromptAcceptance> {
    const { admission, driver, check, userInput } = this.#options;
    return admission.admit(async () => {
      if (!driver.isBusy) await check();
      const message = await userInput.build(text, input);
      return this.#accept(message, behavior, { id: undefined, isAnnounced: false });
    });
  }

  /** Empties both queues and returns what waited; prompts among it have been aborted. */
  async clearQueue(): Promise<{ steering: string[]; followUp: string[] }> {
    const { texts, messages } = this.#queues.clear();
    await this.#announce(this.#prompts.drop(messages));
    return texts;
  }

  /** Empties both queues; their prompts end with {@link abandon}. */
  dropQueued(): void {
    this.#queues.clear();
  }

  /** A message has become part of the conversation. */
  noteRecorded(message: AgentMessage): void {
    this.#prompts.noteDelivered(message);
    if (message.role === "user") this.#queues.update();
  }

  /** A run ended and does not go on: that is the result of the prompts it answered. */
  noteRunEnd(input: readonly AgentMessage[], outcome: RunOutcome): void {
    this.#prompts.noteRunEnd(input, outcome);
  }

  /** Announces the results there are. */
  settle(): Promise<void> {
    return this.#announce(this.#prompts.settle());
  }

  /** The conversation is left behind: what was not answered was aborted. */
  abandon(): Promise<void> {
    return this.#announce(this.#prompts.abandon());
  }

  #accept(
    message: UserMessage,
    behavior: PromptOptions["streamingBehavior"],
    prompt: { id: string | undefined; isAnnounced: boolean },
  ): PromptAcceptance {
    const { agent, driver } = this.#options;
    // A run may have begun while the input was prepared.
    if (driver.isRunning && behavior === undefined) throw new SessionError("busy");
    const result = this.#prompts.accept(message, prompt);
    if (!driver.isBusy) {
      driver.start([message]);
      return { disposition: "started", result };
    }
    (behavior === "steer" ? agent.steering : agent.followUp).enqueue(message);
    this.#queues.update();
    return { disposition: "queued", result };
  }

  async #announce(results: readonly PromptResult[]): Promise<void> {
    for (const result of results) await this.#options.emit(resultEvent(result));
  }
}
