import { Agent, type ModelRequest, type RunOutcome } from "@tau-agent/agent";
import type {
  InterruptMode,
  QueueMode,
  SessionEvent,
  SessionState,
  SessionStats,
} from "@tau-agent/rpc-protocol";
import type {
  AgentMessage,
  BashExecutionMessage,
  UserMessage,
} from "@tau-agent/rpc-protocol/messages";
import { BashCommands } from "./bash-commands.ts";
import { describeState, describeStats, lastAssistantText } from "./describe-session.ts";
import type { Diagnostic } from "./diagnostic.ts";
import { SessionError } from "./errors.ts";
import { EventBus, type Listener } from "./event-bus.ts";
import type { PromptInput } from "./input.ts";
import { toLlmMessages } from "./llm-messages.ts";
import { ModelSelection } from "./model-selection.ts";
import { type PromptResult, PromptTracker } from "./prompt-tracker.ts";
import { QueueReport } from "./queue-report.ts";
import { RunDriver } from "./run-driver.ts";
import { buildSessionContext } from "./session/session-context.ts";
import type { SessionLog } from "./session/session-log.ts";
import type { AgentSessionParts } from "./session-parts.ts";
import type { SettingsStore } from "./settings/store.ts";

/** What became of an accepted prompt, and its end. */
export interface PromptAcceptance {
  readonly disposition: "started" | "queued" | "handled";
  /** Fulfilled once nothing is running and nothing is queued; never rejected. */
  readonly result: Promise<PromptResult>;
}

/** How a prompt is to be treated. */
export interface PromptOptions extends PromptInput {
  /** While a run is on: interrupt it, or wait for its end. */
  readonly streamingBehavior?: "steer" | "followUp" | undefined;
  /** Comes back in `prompt_result`. */
  readonly id?: string | undefined;
}

/** A coding agent with its conversation: what every interface of Tau drives. */
export class AgentSession {
  readonly agent: Agent;
  readonly models: ModelSelection;
  readonly bash: BashCommands;
  readonly settings: SettingsStore;
  /** What was found wrong while the session was made. */
  readonly diagnostics: Diagnostic[];
  readonly #parts: AgentSessionParts;
  readonly #events: EventBus<SessionEvent>;
  readonly #driver: RunDriver;
  readonly #prompts = new PromptTracker();
  readonly #queues: QueueReport;
  #log: SessionLog;
  #systemPrompt: Promise<string> | undefined;
  /** Prompts are admitted one after another, so that two cannot both find the session idle. */
  #admission: Promise<unknown> = Promise.resolve();
  #disposal: Promise<void> | undefined;

  constructor(parts: AgentSessionParts) {
    this.#parts = parts;
    this.#log = parts.log;
    this.settings = parts.settings;
    this.diagnostics = [...parts.diagnostics];
    this.#events = new EventBus((error) => this.#noteListenerError(error));
    this.agent = this.#createAgent();
    this.#queues = new QueueReport(this.agent, (event) => void this.#events.emit(event));
    this.#driver = new RunDriver({
      agent: this.agent,
      onRunEnd: (input, outcome) => this.#endRun(input, outcome),
      onSettled: (aborted) => this.#settle(aborted),
      onFailure: (error) => this.#report(error),
    });
    this.models = new ModelSelection({
      ...parts,
      onModelChange: ({ provider, id: modelId }) => {
        this.#log.append({ type: "model_change", provider, modelId });
      },
      onThinkingLevelChange: (level) => {
        this.#log.append({ type: "thinking_level_change", thinkingLevel: level });
        void this.#events.emit({ type: "thinking_level_changed", level });
      },
    });
    this.bash = new BashCommands({
      environment: parts.toolEnvironment,
      isHeld: () => this.isStreaming,
      record: (message) => this.#recordBash(message),
    });
    this.agent.messages = buildSessionContext(this.#log.tree.branch()).messages;
  }

  /** The session's entries and its file. */
  get log(): SessionLog {
    return this.#log;
  }

  /** The settled messages of the conversation. */
  get messages(): readonly AgentMessage[] {
    return this.agent.messages;
  }

  /** Whether a run is on or about to begin. */
  get isStreaming(): boolean {
    return this.#driver.isBusy;
  }

  /** Hears every event in order. A promise it returns holds the run back until it is fulfilled. */
  subscribe(listener: Listener<SessionEvent>): () => void {
    return this.#events.subscribe(listener);
  }

  /**
   * Sends a prompt and waits for its end, everything queued after it included.
   *
   * @throws {SessionError} as {@link submit}
   */
  async prompt(text: string, options: PromptOptions = {}): Promise<PromptResult> {
    return (await this.submit(text, options)).result;
  }

  /**
   * Hands a prompt in. Once this is fulfilled the prompt is not lost; its run begins in a later
   * turn of the event loop.
   *
   * @throws {SessionError} `no_model`, `no_key`, `key_unresolved`, `busy`, `invalid_image`,
   *   `invalid_attachment`, `disposed`: nothing has happened then.
   */
  submit(text: string, options: PromptOptions = {}): Promise<PromptAcceptance> {
    return this.#admit(async () => {
      const { streamingBehavior } = options;
      if (this.isStreaming && streamingBehavior === undefined) throw new SessionError("busy");
      await this.#requireModel();
      const message = await this.#parts.userInput.build(text, options);
      return this.#accept(message, streamingBehavior, { id: options.id, isAnnounced: true });
    });
  }

  /** Queues a message that interrupts the run; while idle it starts one. */
  steer(text: string, input: PromptInput = {}): Promise<PromptAcceptance> {
    return this.#enqueue(text, input, "steer");
  }

  /** Queues a message for when the agent has nothing left to do; while idle it starts a run. */
  followUp(text: string, input: PromptInput = {}): Promise<PromptAcceptance> {
    return this.#enqueue(text, input, "followUp");
  }

  /** Stops the run; fulfilled once it has ended. What is queued then runs next. */
  async abort(): Promise<void> {
    // A prompt that is still being admitted begins the run this is meant for.
    if (!this.isStreaming) await this.#admission;
    await this.#driver.abort();
  }

  /** Fulfilled once nothing is running and nothing is queued. */
  async waitForIdle(): Promise<void> {
    await this.#admission;
    await this.#driver.waitForIdle();
  }

  /**
   * Leaves the conversation and begins an empty one with the same model.
   *
   * @param parentSession - recorded in the new session; not opened
   */
  newSession(parentSession?: string): Promise<{ cancelled: boolean }> {
    return this.#admit(async () => {
      await this.#leaveConversation(this.bash.stop());
      this.#log = this.#parts.createLog({ parentSession });
      this.agent.messages = [];
      const { model, thinkingLevel } = this.models;
      if (model)
        this.#log.append({ type: "model_change", provider: model.provider, modelId: model.id });
      this.#log.append({ type: "thinking_level_change", thinkingLevel });
      return { cancelled: false };
    });
  }

  /**
   * Gives the session a name.
   *
   * @throws {SessionError} `session_name_empty`
   */
  setName(name: string): void {
    const clean = name.replace(/\s*[\r\n]+\s*/g, " ").trim();
    if (clean === "") throw new SessionError("session_name_empty");
    this.#log.append({ type: "session_info", name: clean });
    void this.#events.emit({ type: "session_info_changed", name: clean });
  }

  /** The state as clients see it. */
  get state(): SessionState {
    return describeState(this);
  }

  /** Counts, tokens and cost of the whole session. */
  get stats(): SessionStats {
    return describeStats(this.#log);
  }

  /** The text of the last reply that has one; null before the first. */
  get lastAssistantText(): string | null {
    return lastAssistantText(this.messages);
  }

  /** Sets how queued messages are delivered, for this session. */
  setQueueModes(modes: {
    steering?: QueueMode;
    followUp?: QueueMode;
    interrupt?: InterruptMode;
  }): void {
    this.agent.steering.mode = modes.steering ?? this.agent.steering.mode;
    this.agent.followUp.mode = modes.followUp ?? this.agent.followUp.mode;
    this.agent.interruptMode = modes.interrupt ?? this.agent.interruptMode;
  }

  /** Ends everything that runs and closes the file. May be called more than once. */
  dispose(): Promise<void> {
    this.#disposal ??= this.#dispose();
    return this.#disposal;
  }

  async #dispose(): Promise<void> {
    const bashEnded = this.bash.close();
    this.#queues.clear();
    await this.#driver.abort();
    await this.#admission;
    await this.#leaveConversation(bashEnded);
    this.#parts.toolEnvironment.processes.killAll();
  }

  #createAgent(): Agent {
    const { stream, settings } = this.#parts;
    const agent = new Agent({
      stream,
      prepareRequest: () => this.#prepareRequest(),
      record: (message) => this.#record(message),
      emit: (event) => this.#events.emit(event),
      toLlmMessages,
    });
    agent.steering.mode = settings.get("steeringMode");
    agent.followUp.mode = settings.get("followUpMode");
    agent.interruptMode = settings.get("interruptMode");
    return agent;
  }

  async #prepareRequest(): Promise<ModelRequest> {
    const { tools } = this.#parts;
    const { model, registry, thinkingLevel } = this.models;
    if (model === undefined) throw new SessionError("no_model");
    this.#systemPrompt ??= this.#parts.systemPrompt(tools);
    const [auth, systemPrompt] = await Promise.all([
      registry.requestAuth(model),
      this.#systemPrompt,
    ]);
    const idleTimeoutMs = this.settings.get("httpIdleTimeoutMs");
    return {
      model,
      systemPrompt,
      tools,
      options: {
        ...auth,
        thinkingLevel,
        thinkingBudgets: this.settings.get("thinkingBudgets"),
        sessionId: this.#log.header.id,
        idleTimeoutMs: idleTimeoutMs === 0 ? undefined : idleTimeoutMs,
        firstEventTimeoutMs: this.settings.get("retry.provider.timeoutMs"),
      },
    };
  }

  #admit<T>(step: () => Promise<T>): Promise<T> {
    if (this.#disposal !== undefined) return Promise.reject(new SessionError("disposed"));
    const admitted = this.#admission.then(step, step);
    this.#admission = admitted.catch(() => undefined);
    return admitted;
  }

  /** A prompt that could never be answered is refused before anything happens. */
  async #requireModel(): Promise<void> {
    const { model, registry } = this.models;
    if (model === undefined) throw new SessionError("no_model");
    await registry.keys.require(model.provider);
  }

  #enqueue(
    text: string,
    input: PromptInput,
    behavior: "steer" | "followUp",
  ): Promise<PromptAcceptance> {
    return this.#admit(async () => {
      if (!this.isStreaming) await this.#requireModel();
      const message = await this.#parts.userInput.build(text, input);
      return this.#accept(message, behavior, { id: undefined, isAnnounced: false });
    });
  }

  #accept(
    message: UserMessage,
    behavior: PromptOptions["streamingBehavior"],
    prompt: { id: string | undefined; isAnnounced: boolean },
  ): PromptAcceptance {
    // A run may have begun while the input was prepared.
    if (this.isStreaming && behavior === undefined) throw new SessionError("busy");
    const result = this.#prompts.accept(message, prompt);
    if (!this.isStreaming) {
      this.#driver.start([message]);
      return { disposition: "started", result };
    }
    (behavior === "steer" ? this.agent.steering : this.agent.followUp).enqueue(message);
    this.#queues.update();
    return { disposition: "queued", result };
  }

  #record(message: AgentMessage): void {
    this.#log.append({ type: "message", message });
    this.#prompts.noteDelivered(message);
    if (message.role === "user") this.#queues.update();
  }

  #recordBash(message: BashExecutionMessage): void {
    this.#log.append({ type: "message", message });
    this.agent.append(message);
  }

  async #endRun(input: readonly AgentMessage[], outcome: RunOutcome): Promise<void> {
    this.#prompts.noteRunEnd(input, outcome);
    if (outcome.failure !== undefined) this.#report(outcome.failure);
    this.#orReport(() => this.bash.recordHeld());
    this.#orReport(() => this.#log.endTurn());
    await this.#events.emit({ type: "agent_end", messages: [...outcome.messages] });
  }

  async #settle(aborted: boolean): Promise<void> {
    // Results that came while listeners heard of the run's end.
    this.#orReport(() => this.bash.recordHeld());
    await this.#events.emit({ type: "agent_settled", aborted });
    await this.#announce(this.#prompts.settle());
  }

  async #announce(results: readonly PromptResult[]): Promise<void> {
    for (const { id, status, error } of results) {
      await this.#events.emit({
        type: "prompt_result",
        ...(id === undefined ? {} : { id }),
        status,
        ...(error === undefined ? {} : { error }),
      });
    }
  }

  async #leaveConversation(bashEnded: Promise<void>): Promise<void> {
    this.#queues.clear();
    await this.#driver.abort();
    await this.#driver.waitForIdle();
    await bashEnded;
    await this.#announce(this.#prompts.abandon());
    this.#log.close();
  }

  /** Told to a listener that fails, the failure would come back for ever: it is only noted. */
  #noteListenerError(error: unknown): void {
    const message = `A listener failed: ${error instanceof Error ? error.message : String(error)}`;
    const isKnown = this.diagnostics.some((diagnostic) => diagnostic.message === message);
    if (!isKnown) this.diagnostics.push({ severity: "error", message });
  }

  #orReport(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#report(error);
    }
  }

  /** A failure that belongs to no command: clients hear of it, the session goes on. */
  #report(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.diagnostics.push({ severity: "error", message });
    const code = error instanceof SessionError ? error.code : undefined;
    void this.#events.emit({
      type: "error",
      error: message,
      ...(code === undefined ? {} : { code }),
    });
  }
}
