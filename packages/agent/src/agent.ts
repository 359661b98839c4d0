import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import type { ToolExecutionMode } from "./loop/call-groups.ts";
import { CallIds } from "./loop/call-ids.ts";
import type { RunOutcome } from "./loop/loop.ts";
import { MessageQueue } from "./loop/message-queue.ts";
import type { AgentOptions, InterruptMode, Run } from "./loop/run.ts";
import type { ResumedReply } from "./loop/turn.ts";

/** Loads the loop, which the first run needs. */
export const loadLoop = (): Promise<typeof import("./loop/loop.ts")> => import("./loop/loop.ts");

/**
 * A conversation and the loop that continues it. There is one run at a time; during a run, messages are queued in
 * `steering`, `nextTurn` and `followUp`. The owner stores and reports through {@link AgentOptions}.
 */
export class Agent {
  /** Messages that interrupt the run. */
  readonly steering = new MessageQueue();
  /** Messages for the next turn, whatever starts it; they do not start one while the agent is idle. */
  readonly nextTurn = new MessageQueue();
  /** Messages for when the model has nothing left to do. */
  readonly followUp = new MessageQueue();
  /** `immediate` by default. */
  interruptMode: InterruptMode = "immediate";
  /** `sequential` by default; a change takes effect with the next reply. */
  toolExecution: ToolExecutionMode = "sequential";
  readonly #options: AgentOptions;
  /** Loaded on first use, because a starting host runs no loop (bench row `start`). */
  #loading: Promise<typeof import("./loop/loop.ts")> | undefined;
  #known: AgentMessage[] | undefined = [];
  #read: () => readonly AgentMessage[] = () => [];
  #controller: AbortController | undefined;
  readonly #callIds = new CallIds();

  constructor(options: AgentOptions) {
    this.#options = options;
  }

  /** The settled messages of the conversation. */
  get messages(): readonly AgentMessage[] {
    return this.#messages;
  }

  get #messages(): AgentMessage[] {
    this.#known ??= [...this.#read()];
    return this.#known;
  }

  /** Replaces the conversation, for example after a switch of session or a compaction. */
  replaceMessages(messages: readonly AgentMessage[]): void {
    this.#known = [...messages];
  }

  /** Replaces the conversation with one that is read when it is first needed. */
  replaceMessagesLater(read: () => readonly AgentMessage[]): void {
    this.#known = undefined;
    this.#read = read;
  }

  /** Adds a message outside of a run. It must already be recorded. */
  append(message: AgentMessage): void {
    this.#messages.push(message);
  }

  /**
   * Runs until nothing is left to do. Emits the events from `agent_start` to the last `turn_end`;
   * the owner emits `agent_end`, because only the owner knows whether it will retry. Never rejects:
   * a failure outside of the model is the outcome's `failure`.
   *
   * @param input - the new messages; none to continue from the current conversation.
   * @param signal - ends the run like {@link abort}, at once if it is already aborted.
   * @param resumed - the last reply, whose calls this run begins with; `input` must be empty then
   */
  async run(
    input: readonly AgentMessage[],
    signal?: AbortSignal,
    resumed?: ResumedReply,
  ): Promise<RunOutcome> {
    const controller = new AbortController();
    this.#controller = controller;
    // `AbortSignal.any` checks both signals on each access, which is slower (row "CPU per short prompt").
    const end = (): void => controller.abort(signal?.reason);
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted) end();
    try {
      // Imported once: `import()` takes 11 µs even for a loaded module (row "CPU per short prompt").
      this.#loading ??= loadLoop();
      const { runLoop } = await this.#loading;
      return await runLoop(this.#createRun(controller.signal), input, resumed);
    } finally {
      signal?.removeEventListener("abort", end);
      this.#controller = undefined;
    }
  }

  /** Stops the current run, if any: the model's stream, running tools, and calls that have not begun. */
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
      toolExecution: () => this.toolExecution,
      adopt: (message) => {
        added.push(message);
        this.append(message);
      },
      added,
      messages: () => this.#messages,
      callIds: this.#callIds,
      failure: undefined,
    };
  }
}
