import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { type RunOutcome, runLoop } from "./loop.ts";
import { MessageQueue } from "./message-queue.ts";
import type { AgentOptions, InterruptMode, Run } from "./run.ts";

/**
 * A conversation and the loop that carries it on. One run at a time; while it is on, messages are
 * queued in `steering`, `nextTurn` and `followUp`. The owner stores and reports through {@link AgentOptions}.
 */
export class Agent {
  /** Messages that interrupt the run. */
  readonly steering = new MessageQueue();
  /** Messages that come along with the next turn, whatever it is for; they begin none when idle. */
  readonly nextTurn = new MessageQueue();
  /** Messages for when the model has nothing left to do. */
  readonly followUp = new MessageQueue();
  /** Default `immediate`. */
  interruptMode: InterruptMode = "immediate";
  readonly #options: AgentOptions;
  #messages: AgentMessage[] = [];
  #controller: AbortController | undefined;

  constructor(options: AgentOptions) {
    this.#options = options;
  }

  /** The settled messages of the conversation. */
  get messages(): readonly AgentMessage[] {
    return this.#messages;
  }

  /** Replaces the conversation, as after a switch of session or a compaction. */
  replaceMessages(messages: readonly AgentMessage[]): void {
    this.#messages = [...messages];
  }

  /** Adds a message outside of a run. It must be recorded already. */
  append(message: AgentMessage): void {
    this.#messages.push(message);
  }

  /**
   * Runs until nothing is left. Emits `agent_start` to the last `turn_end`; the owner emits
   * `agent_end`, since only it knows whether it will retry.
   * Never rejects: what went wrong outside of the model is the outcome's `failure`.
   *
   * @param input - the new messages; none to continue from the conversation as it is.
   * @param signal - ends the run like {@link abort}; an aborted one ends it at once.
   */
  async run(input: readonly AgentMessage[], signal?: AbortSignal): Promise<RunOutcome> {
    const controller = new AbortController();
    this.#controller = controller;
    const ends = signal === undefined ? [] : [signal];
    try {
      return await runLoop(this.#createRun(AbortSignal.any([controller.signal, ...ends])), input);
    } finally {
      this.#controller = undefined;
    }
  }

  /** Stops the run, if there is one: the model's stream, running tools, the calls still to come. */
  abort(): void {
    this.#controller?.abort();
  }

  #createRun(signal: AbortSignal): Run {
    const added: AgentMessage[] = [];
    return {
      options: this.#options,
      signal,
      steering: this.steering,
      followUp: this.followUp,
      nextTurn: this.nextTurn,
      interruptMode: () => this.interruptMode,
      adopt: (message) => {
        added.push(message);
        this.append(message);
      },
      added,
      messages: () => this.#messages,
      failure: undefined,
    };
  }
}
