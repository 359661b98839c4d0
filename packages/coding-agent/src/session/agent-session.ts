import type { Agent } from "@tau-agent/agent";
import type {
  CompactionResult,
  SessionEvent,
  SessionState,
  SessionStats,
} from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import type { Diagnostic } from "../base/diagnostic.ts";
import { EventBus, type Listener, type SubscribeOptions } from "../base/event-bus.ts";
import { Compaction } from "../compaction/compaction.ts";
import { ModelSelection } from "../models/model-selection.ts";
import { Retry } from "../models/retry.ts";
import type { CommandInfo } from "../resources/list-commands.ts";
import { Admission } from "../run/admission.ts";
import { BashCommands } from "../run/bash-commands.ts";
import { createSessionLoop } from "../run/create-session-loop.ts";
import { ModelRequests } from "../run/model-requests.ts";
import { ProblemReport } from "../run/problem-report.ts";
import { PromptIntake } from "../run/prompt-intake.ts";
import type { PromptAcceptance, PromptOptions } from "../run/prompt-options.ts";
import type { PromptResult } from "../run/prompt-tracker.ts";
import { applyQueueModes, type QueueModes } from "../run/queue-report.ts";
import { isWholeReply, RunContinuation } from "../run/run-continuation.ts";
import { RunDriver } from "../run/run-driver.ts";
import { RunEnd } from "../run/run-end.ts";
import type { SessionHooks } from "../run/session-hooks.ts";
import type { AgentSessionParts } from "../run/session-parts.ts";
import type { SessionLog } from "../session-log/session-log.ts";
import type { SettingsStore } from "../settings/store.ts";
import type { SessionBudget } from "../subagents/budgets/session-budget.ts";
import { SessionTodos } from "../todos/session-todos.ts";
import type { ToolSet } from "../tools/tool-set.ts";
import type { PromptInput } from "../user-input/input.ts";
import { Conversation } from "./conversation.ts";
import { describeState, describeStats, lastAssistantText } from "./describe-session.ts";
import { SessionNavigation } from "./session-navigation.ts";

/** A coding agent with its conversation: what every interface of Tau drives. */
export class AgentSession implements AsyncDisposable {
  readonly agent: Agent;
  readonly driver: RunDriver;
  readonly models: ModelSelection;
  readonly requests: ModelRequests;
  readonly tools: ToolSet;
  readonly budget: SessionBudget;
  /** The todo list of the branch the session is on. */
  readonly todos = new SessionTodos(this);
  readonly bash: BashCommands;
  readonly compaction: Compaction;
  readonly retry: Retry;
  readonly navigation: SessionNavigation;
  readonly settings: SettingsStore;
  readonly problems: ProblemReport;
  /** What extensions do; undefined without any. */
  readonly hooks: SessionHooks | undefined;
  /** Commands of extensions, templates and skills that a prompt may begin with. */
  readonly listCommands: () => Promise<CommandInfo[]>;
  readonly #parts: AgentSessionParts;
  readonly #events: EventBus<SessionEvent>;
  readonly #intake: PromptIntake;
  readonly #conversation: Conversation;
  readonly #continuation: RunContinuation;
  readonly #runEnd: RunEnd;
  readonly #admission = new Admission();
  #disposal: Promise<void> | undefined;

  constructor(parts: AgentSessionParts) {
    this.#parts = parts;
    this.settings = parts.settings;
    this.tools = parts.tools;
    this.budget = parts.budget;
    this.hooks = parts.hooks;
    this.listCommands = parts.listCommands;
    this.problems = new ProblemReport(parts.diagnostics, (event) => void this.#events.emit(event));
    this.#events = new EventBus({
      onListenerError: (error) => this.problems.noteListenerError(error),
      isStopping: () => this.isClosed || this.driver.signal?.aborted === true,
    });
    this.agent = createSessionLoop(parts, {
      prepareRequest: () => this.requests.prepare(),
      record: (message) => this.#record(message),
      emit: (event) => this.#relay(event),
      beforeModelCall: () => this.compaction.runWhenDue(this.driver.signal),
    });
    this.driver = new RunDriver({
      agent: this.agent,
      onRunEnd: (input, outcome, signal) => this.#runEnd.end(input, outcome, signal),
      onSettled: (aborted) => this.#runEnd.settle(aborted),
      onStop: () => this.#events.letGo(),
      onFailure: (error) => this.problems.add(error),
    });
    this.models = new ModelSelection({
      ...parts,
      onModelChange: (model, source) => {
        this.log.append({ type: "model_change", provider: model.provider, modelId: model.id });
        parts.hooks?.noteModel(model, this.models.model, source);
        this.retry.hasten();
      },
      onThinkingLevelChange: (level) => {
        this.log.append({ type: "thinking_level_change", thinkingLevel: level });
        void this.#events.emit({ type: "thinking_level_changed", level });
      },
    });
    this.#conversation = new Conversation(parts.log, {
      agent: this.agent,
      models: this.models,
      openLog: parts.openLog,
      enterFolder: (log) => this.#enterFolder(log),
      note: (diagnostic) => this.problems.note(diagnostic),
    });
    this.requests = new ModelRequests({
      ...parts,
      models: this.models,
      sessionId: () => this.log.header.id,
    });
    const emit = (event: SessionEvent): void | Promise<void> => this.#events.emit(event);
    this.#intake = new PromptIntake({
      ...parts,
      emit,
      agent: this.agent,
      admission: this.#admission,
      driver: this.driver,
      check: () => this.requests.check(),
    });
    this.retry = new Retry({ settings: this.settings, emit, logins: parts.registry.keys });
    this.compaction = new Compaction({
      ...parts,
      emit,
      agent: this.agent,
      log: () => this.log,
      model: () => this.models.model,
      todos: () => this.todos.items,
      prepareRequest: () => this.requests.prepare(),
      retry: this.retry,
      decide: parts.hooks?.decideCompaction,
    });
    this.#continuation = new RunContinuation(this);
    this.navigation = this.#createNavigation();
    this.bash = new BashCommands({
      environment: parts.toolEnvironment,
      isHeld: () => this.isStreaming,
      record: (message) => this.#conversation.add(message),
      hooks: parts.hooks,
    });
    this.#runEnd = new RunEnd({
      emit,
      continuation: this.#continuation,
      intake: this.#intake,
      problems: this.problems,
      bash: this.bash,
      log: () => this.log,
    });
  }

  /** The session's entries and its file. */
  get log(): SessionLog {
    return this.#conversation.log;
  }

  /** What was found wrong, when the session was made and since. */
  get diagnostics(): readonly Diagnostic[] {
    return this.problems.diagnostics;
  }

  /** The settled messages of the conversation. */
  get messages(): readonly AgentMessage[] {
    return this.agent.messages;
  }

  /** Whether a run is on or about to begin. */
  get isStreaming(): boolean {
    return this.driver.isRunning;
  }

  /** Whether the session has ended, or is about to. */
  get isClosed(): boolean {
    return this.#admission.isClosed;
  }

  /** Whether code of the folder it is in may be loaded; trust stays behind when it goes elsewhere. */
  get isProjectTrusted(): boolean {
    return this.#parts.isProjectTrusted();
  }

  /** Whether the conversation is being compacted. */
  get isCompacting(): boolean {
    return this.compaction.isRunning;
  }

  /** Hears every event in order. A promise it returns holds the run back; see {@link Listener}. */
  subscribe(listener: Listener<SessionEvent>, options?: SubscribeOptions): () => void {
    return this.#events.subscribe(listener, options);
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
   * @throws {SessionError} `no_model`, `no_key`, `key_unresolved`, `busy`, `prompt_empty`, `invalid_image`,
   *   `invalid_attachment`, `disposed`: nothing has happened then.
   */
  submit(text: string, options: PromptOptions = {}): Promise<PromptAcceptance> {
    return this.#intake.submit(text, options);
  }

  /** Queues a message that interrupts the run; while idle it starts one. */
  steer(text: string, input: PromptInput = {}): Promise<PromptAcceptance> {
    return this.#intake.enqueue(text, input, "steer");
  }

  /** Queues a message for when the agent has nothing left to do; while idle it starts a run. */
  followUp(text: string, input: PromptInput = {}): Promise<PromptAcceptance> {
    return this.#intake.enqueue(text, input, "followUp");
  }

  /** Queues a message for the next turn, of the run that is on or of the next; starts none. */
  queueMessage(text: string, input: PromptInput = {}): Promise<PromptAcceptance> {
    return this.#intake.enqueue(text, input, "nextTurn");
  }

  /** Stops what is on and hands a prompt in that comes before all that is queued. */
  abortAndPrompt(text: string, options: PromptOptions = {}): Promise<PromptAcceptance> {
    return this.#intake.interrupt(text, options);
  }

  /**
   * Puts a message of an extension into the conversation: into the run that is on, as the start of
   * one, or with `behavior: "none"` without any.
   *
   * @throws {SessionError} as {@link submit}
   */
  async deliver(message: AgentMessage, behavior: "steer" | "followUp" | "none"): Promise<void> {
    if (behavior !== "none") return this.#intake.deliver(message, behavior);
    this.#conversation.add(message);
    await this.report({ type: "message_start", message });
    await this.report({ type: "message_end", message });
  }

  /** Tells everybody who listens. */
  report(event: SessionEvent): void | Promise<void> {
    return this.#events.emit(event);
  }

  /** Stops whatever is on; fulfilled once it has ended. What is queued then runs next. */
  async abort(): Promise<void> {
    this.hooks?.dismissDialogs();
    // A prompt that is still being admitted begins the run this is meant for.
    if (!this.driver.isBusy) await Promise.all([this.#intake.settle(), this.#admission.settled()]);
    await this.driver.abort();
  }

  /**
   * Replaces older messages by a summary; stops the run that is on first.
   *
   * @throws {SessionError} `nothing_to_compact`, `already_compacted`, `compaction_cancelled`,
   *   `summary_failed`, `no_model`, `no_key`: the conversation is as it was then.
   */
  compact(customInstructions?: string): Promise<CompactionResult> {
    return this.#perform((signal) =>
      this.compaction.run({ reason: "manual", customInstructions }, signal),
    );
  }

  /** Fulfilled once nothing is running and nothing is queued. */
  async waitForIdle(): Promise<void> {
    await this.#admission.settled();
    await this.driver.waitForIdle();
  }

  /** Leaves the conversation and begins an empty one with the same model. */
  newSession(parentSession?: string): Promise<{ cancelled: boolean }> {
    return this.navigation.newSession(parentSession);
  }

  /**
   * Gives the session a name.
   * @throws {SessionError} `session_name_empty`
   */
  setName(name: string): void {
    const clean = this.#conversation.rename(name);
    void this.report({ type: "session_info_changed", name: clean });
  }

  /** The state as clients see it. */
  get state(): SessionState {
    return describeState(this);
  }

  /** Counts, tokens and cost of the whole session. */
  get stats(): SessionStats {
    return describeStats(this);
  }

  /** The text of the last reply that has one; null before the first. */
  get lastAssistantText(): string | null {
    return lastAssistantText(this.messages);
  }

  /** Empties all queues and returns what waited; prompts among it have been aborted. */
  clearQueue(): Promise<{ steering: string[]; followUp: string[] }> {
    return this.#intake.clearQueue();
  }

  /** Sets how queued messages are delivered, for this session. */
  setQueueModes(modes: QueueModes): void {
    applyQueueModes(this.agent, modes);
  }

  /** Ends everything that runs and closes the file. May be called more than once. */
  dispose(): Promise<void> {
    this.#admission.close();
    this.#disposal ??= this.#dispose();
    return this.#disposal;
  }

  /** What `await using` calls. */
  readonly [Symbol.asyncDispose] = (): Promise<void> => this.dispose();

  async #dispose(): Promise<void> {
    await this.hooks?.end();
    const bashEnded = this.bash.close();
    this.#intake.dropQueued();
    await this.driver.hold();
    await Promise.all([this.#intake.settle(), this.#admission.settled()]);
    await this.#endConversation(bashEnded);
    await this.#intake.abandonHandled();
    this.log.close();
    this.#parts.toolEnvironment.processes.killAll();
  }

  #createNavigation(): SessionNavigation {
    const parts = this.#parts;
    return new SessionNavigation({
      ...parts,
      cwd: parts.toolEnvironment.cwd,
      log: () => this.log,
      openLog: (path) => this.#conversation.open(path),
      replaceLog: (next, isContinued) => this.#replaceLog(next, isContinued),
      rebuild: () => this.#conversation.rebuild(),
      perform: (work) => this.#perform(work),
      summarizer: { ...parts, prepareRequest: () => this.requests.prepare(), retry: this.retry },
    });
  }

  #enterFolder(log: SessionLog): readonly Diagnostic[] {
    const { hasMoved, diagnostics } = this.#parts.enterFolder(log);
    if (hasMoved) this.requests.forgetSystemPrompt();
    return diagnostics;
  }

  #record(message: AgentMessage): void {
    this.#conversation.record(message);
    if (message.role === "user") this.compaction.notePrompt();
    this.#intake.noteRecorded(message);
  }

  #relay(event: SessionEvent): void | Promise<void> {
    const wait = this.#events.emit(event);
    if (!isWholeReply(event)) return wait;
    return Promise.resolve(wait).then(() => this.#continuation.noteReply());
  }

  /** Work that no run may overlap. Only its beginning is admitted, so that prompts queue meanwhile. */
  async #perform<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { running } = await this.#admission.admit(async () => {
      await this.driver.hold();
      return { running: this.driver.perform(work) };
    });
    return running;
  }

  /** Ends what runs, drops what waits, and says so. */
  async #endConversation(bashEnded: Promise<void>): Promise<void> {
    this.#intake.dropQueued();
    await this.driver.hold();
    await bashEnded;
    await this.driver.release();
    await this.#intake.abandon();
  }

  #replaceLog(next: () => SessionLog, isContinued: boolean): Promise<void> {
    return this.#admission.admit(async () => {
      await this.#endConversation(this.bash.stop());
      // Made before the old one is closed: when that fails, the session is as it was.
      await this.#conversation.replace(next(), isContinued);
      this.budget.startOver();
    });
  }
}
