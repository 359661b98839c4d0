import type { ToolExecutionMode } from "@tau-agent/agent";
import type { McpAccess } from "@tau-agent/mcp";
import type { ModelSelection, Retry } from "@tau-agent/models";
import type {
  ApprovalRequest,
  CompactionResult,
  EventOrder,
  SessionEvent,
  SessionState,
  SessionStats,
  SubagentLevel,
} from "@tau-agent/rpc-protocol";
import type {
  AgentMessage,
  AssistantMessage,
  Model,
  PromptResult,
  ThinkingLevel,
} from "@tau-agent/rpc-protocol/messages";
import { lastReplyParts } from "@tau-agent/rpc-protocol/plain";
import type { SessionLogView, StoredMessages } from "@tau-agent/sessions/log";
import type {
  Diagnostic,
  HostRequests,
  Listener,
  OutputOf,
  OutputSchema,
  SettingsStore,
  SubscribeOptions,
} from "@tau-agent/system";
import type { SessionRewind } from "@tau-agent/worktrees";
import type { Compaction } from "../compaction/compaction.ts";
import type { HostTools } from "../host-tools/host-tools.ts";
import type { SessionJobs } from "../jobs/session-jobs.ts";
import type { SessionPermissions } from "../permissions/session-permissions.ts";
import type { SessionPolicy } from "../policy/session-policy.ts";
import type { CommandInfo } from "../resources/list-commands.ts";
import { applyQueueModes, type QueueModes } from "../run/agent-queues.ts";
import type { BashCommands } from "../run/bash-commands.ts";
import type { PromptAcceptance, PromptOptions } from "../run/prompt-options.ts";
import type { SessionHooks } from "../run/session-hooks.ts";
import type { SessionBudget } from "../subagents/budgets/session-budget.ts";
import type { SubagentControl } from "../subagents/runners/subagent-runner.ts";
import type { SessionTodos } from "../todos/session-todos.ts";
import type { ToolSet } from "../tools/tool-set.ts";
import type { PromptInput } from "../user-input/input.ts";
import { addMessage } from "./build-session.ts";
import { describeState, describeStats, lastAssistantText } from "./describe-session.ts";
import { describeTools } from "./describe-tools.ts";
import { endSession } from "./end-session.ts";
import type { SessionNavigation } from "./session-navigation.ts";
import type { SessionParts } from "./session-parts.ts";

/** A coding agent with its conversation. Every interface of Tau is built on this class. */
export class AgentSession implements AsyncDisposable {
  /** The current model, and the models to choose from. */
  readonly models: ModelSelection;
  /** The tools that the model may call. */
  readonly tools: ToolSet;
  /** Limits on tokens, cost and time, for the session and its subagents together. */
  readonly budget: SessionBudget;
  /** The todo list of the current branch. */
  readonly todos: SessionTodos;
  /** Shell commands that the client runs. */
  readonly bash: BashCommands;
  /** Background commands of the model. */
  readonly jobs: SessionJobs;
  /** Access to its subagents. */
  readonly subagents: SubagentControl;
  /** The recorded state of files before each prompt, and whether recording is on. */
  readonly checkpoints: SessionRewind;
  readonly compaction: Pick<Compaction, "abort" | "isRunning">;
  readonly retry: Pick<Retry, "cancel" | "attempt">;
  /** Other sessions, and other branches of this one. */
  readonly navigation: SessionNavigation;
  readonly settings: SettingsStore;
  /** Its MCP servers. */
  readonly mcp: McpAccess;
  /** Requests of the session to its client or embedder. */
  readonly requests: HostRequests;
  /** The tools that the client runs. */
  readonly hostTools: HostTools;
  /** What tools may do without asking. */
  readonly permissions: SessionPermissions;
  /** Limits that nothing in the session can widen; undefined without a policy. */
  readonly policy: SessionPolicy | undefined;
  /** The hooks of extensions; undefined if there are none. */
  readonly hooks: SessionHooks | undefined;
  readonly #parts: SessionParts;
  #disposal: Promise<void> | undefined;

  /** Use `createAgentSession`, which builds the parts. */
  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.models = parts.models;
    this.tools = parts.inputs.tools;
    this.budget = parts.inputs.budget;
    this.todos = parts.todos;
    this.bash = parts.bash;
    this.jobs = parts.inputs.jobs;
    this.subagents = parts.inputs.subagents;
    this.checkpoints = parts.inputs.rewind;
    this.compaction = parts.compaction;
    this.retry = parts.retry;
    this.navigation = parts.navigation;
    this.settings = parts.inputs.settings;
    this.mcp = parts.inputs.mcp;
    this.requests = parts.inputs.requests;
    this.hostTools = parts.inputs.hostTools;
    this.permissions = parts.inputs.permissions;
    this.policy = parts.inputs.policy;
    this.hooks = parts.inputs.hooks;
  }

  /** The session's entries and the path of its file. */
  get log(): SessionLogView {
    return this.#parts.conversation.log;
  }

  /** Problems found when the session was created and since. */
  get diagnostics(): readonly Diagnostic[] {
    return this.#parts.problems.diagnostics;
  }

  /**
   * Resolves once the session's store has everything written so far; undefined if it already does, and for a session in
   * a file. Rejects with `session_write_failed` or `session_lost`.
   */
  get stored(): Promise<void> | undefined {
    return this.#parts.conversation.log.stored();
  }

  /** The folder that tools work in. */
  get cwd(): string {
    return this.#parts.inputs.toolEnvironment.cwd;
  }

  /** The settled messages of the conversation. */
  get messages(): readonly AgentMessage[] {
    return this.#parts.conversation.messages;
  }

  /** The same messages as stored in their file, until something needs them in another form. */
  get storedMessages(): StoredMessages | undefined {
    return this.#parts.conversation.storedMessages;
  }

  /** Whether a run is in progress or about to begin. */
  get isStreaming(): boolean {
    return this.#parts.driver.isRunning;
  }

  /** Whether a run or a compaction is in progress or about to begin. */
  get isBusy(): boolean {
    return this.#parts.driver.isBusy;
  }

  /** Aborts together with the current run; undefined while idle. */
  get signal(): AbortSignal | undefined {
    return this.#parts.driver.signal;
  }

  /** Whether the session has ended or is ending. */
  get isClosed(): boolean {
    return this.#parts.admission.isClosed;
  }

  /** Whether code of the current folder may be loaded. Trust does not carry over to the folder of another session. */
  get isProjectTrusted(): boolean {
    return this.#parts.inputs.isProjectTrusted();
  }

  /** Whether the conversation is being compacted. */
  get isCompacting(): boolean {
    return this.compaction.isRunning;
  }

  /** Receives every event in order. A promise returned by the listener delays the run; see {@link Listener}. */
  subscribe(listener: Listener<SessionEvent>, options?: SubscribeOptions): () => void {
    return this.#parts.events.subscribe(listener, options);
  }

  /** Receives each diagnostic from now on; earlier ones are in {@link diagnostics}. */
  onDiagnostic(listener: (diagnostic: Diagnostic) => void): void {
    this.#parts.problems.onNote(listener);
  }

  /** Sends a prompt and waits until it and everything queued after it has ended. Throws as {@link submit}. */
  async prompt<Schema extends OutputSchema>(
    text: string,
    options: PromptOptions & { readonly outputSchema?: Schema | undefined } = {},
  ): Promise<PromptResult<OutputOf<Schema>>> {
    const { result } = await this.submit(text, options);
    return (await result) as PromptResult<OutputOf<Schema>>;
  }

  /** Continues a prompt that is paused, or whose host died. Throws as {@link submit}, and `prompt_not_paused`. */
  async resume(
    promptId: string,
    { until }: Pick<PromptOptions, "until"> = {},
  ): Promise<PromptResult> {
    return (await this.submit("resume", { promptId, resume: true, until })).result;
  }

  /**
   * Accepts a prompt. Once the promise resolves, the prompt cannot be lost; its run begins in a later turn of the event
   * loop.
   *
   * @throws {SessionError} `no_model`, `no_key`, `key_unresolved`, `busy`, `prompt_empty`, `invalid_image`,
   *   `invalid_attachment`, `invalid_schema`, `disposed`; in these cases the session is unchanged.
   */
  submit(text: string, options: PromptOptions = {}): Promise<PromptAcceptance> {
    return this.#parts.intake.submit(text, options);
  }

  /** Queues a message that interrupts the run; while idle it starts one. */
  steer(text: string, input: PromptInput = {}): Promise<PromptAcceptance> {
    return this.#parts.intake.enqueue(text, input, "steer");
  }

  /** Queues a message for when the agent has finished; while idle it starts a run. */
  followUp(text: string, input: PromptInput = {}): Promise<PromptAcceptance> {
    return this.#parts.intake.enqueue(text, input, "followUp");
  }

  /** Queues a message for the next turn of the current or next run; it never starts a run. */
  queueMessage(text: string, input: PromptInput = {}): Promise<PromptAcceptance> {
    return this.#parts.intake.enqueue(text, input, "nextTurn");
  }

  /** Stops the current work and submits a prompt ahead of everything queued. */
  abortAndPrompt(text: string, options: PromptOptions = {}): Promise<PromptAcceptance> {
    return this.#parts.intake.interrupt(text, options);
  }

  /** Adds an extension's message: to the run, as its start, or with `none` without a run. Throws as {@link submit}. */
  async deliver(message: AgentMessage, behavior: "steer" | "followUp" | "none"): Promise<void> {
    const { intake, conversation, emit } = this.#parts;
    if (behavior !== "none") return intake.deliver(message, behavior);
    await addMessage(conversation, emit, message);
  }

  /** Reserves the position of a frame that reaches clients in another way than as an event of the session. */
  nextOrder(): EventOrder {
    return this.#parts.events.next();
  }

  /** Sends an event to every listener. */
  report(event: SessionEvent): void | Promise<void> {
    return this.#parts.emit(event);
  }

  /** Stops the current work; resolves once it has ended. Queued messages run next. */
  async abort(): Promise<void> {
    this.hooks?.dismissDialogs();
    await this.#parts.work.abort();
  }

  /**
   * Replaces older messages with a summary; stops the current run first.
   *
   * @throws {SessionError} `nothing_to_compact`, `already_compacted`, `compaction_cancelled`, `summary_failed`,
   *   `no_model`, `no_key`; in these cases the conversation is unchanged.
   */
  compact(customInstructions?: string): Promise<CompactionResult> {
    const { work, compaction } = this.#parts;
    return work.perform((signal) =>
      compaction.run({ reason: "manual", customInstructions }, signal),
    );
  }

  /** The prompts that changed files and can be reverted, oldest first; see {@link checkpoints}. */
  readonly listCheckpoints: SessionRewind["list"] = () => this.checkpoints.list();
  /** Reverts the changes to files by a prompt and all later ones; see {@link checkpoints}. */
  readonly rewind: SessionRewind["rewind"] = (request) => this.checkpoints.rewind(request);
  /** The content of the next request, by kind, and the tool results that it shows as one line. */
  readonly context = async () => (await import("./describe-context.ts")).contextOf(this.#parts);

  /** Asks on behalf of a subagent whether its tool may run. */
  async approve(agentId: string, request: ApprovalRequest, signal: AbortSignal) {
    const questions = await this.#parts.gate.questions();
    return questions.askForSubagent(agentId, request, signal);
  }

  /** Resolves once nothing is running or queued. */
  waitForIdle(): Promise<void> {
    return this.#parts.work.waitForIdle();
  }

  /** Leaves the conversation and begins an empty one with the same model. */
  newSession(parentSession?: string): Promise<{ cancelled: boolean }> {
    return this.navigation.newSession(parentSession);
  }

  /**
   * Switches to a model, given by provider and id or as an object; the next request uses it.
   *
   * @throws {SessionError} `model_not_found`, `no_key`, `session_write_failed`
   */
  async setModel(
    ...model: readonly [provider: string, modelId: string] | readonly [Model]
  ): Promise<Model> {
    const [given, modelId] = model;
    if (typeof given === "string") return this.models.set(given, modelId ?? "");
    this.models.use(given);
    return given;
  }

  /** Sets the thinking level; an unsupported level becomes the nearest supported one. */
  setThinkingLevel(level: ThinkingLevel): void {
    this.models.setThinkingLevel(level);
  }

  /** Names the session. @throws {SessionError} `session_name_empty` */
  setName(given: string): void {
    const name = this.#parts.conversation.rename(given);
    void this.report({ type: "session_info_changed", name });
  }

  /** The system prompt for the active tools, built on first use. */
  buildSystemPrompt(): Promise<string> {
    return this.#parts.requests.systemPrompt();
  }

  /** Commands of extensions, templates and skills that a prompt may begin with. */
  listCommands(): Promise<CommandInfo[]> {
    return this.#parts.inputs.listCommands();
  }

  /** The tools that the model may call in its next request, as clients see them. */
  get activeTools() {
    return describeTools(this.#parts.inputs);
  }

  /** The change that an `edit` or `write` call would make now; undefined for other calls, and if it would fail. */
  async previewChange(toolName: string, input: Readonly<Record<string, unknown>>) {
    const { changeOf } = await import("../tools/preview-change.ts");
    return changeOf(toolName, input, this.#parts.inputs.toolEnvironment);
  }

  /** Adds an entry to the session's file that is neither shown nor sent to the model. */
  note(customType: string, data: unknown): void {
    this.#parts.conversation.append({ type: "custom", customType, data });
  }

  /** The state as clients see it. */
  get state(): SessionState {
    return describeState(this.#parts);
  }

  /** Counts, tokens and cost of the whole session. */
  get stats(): SessionStats {
    return describeStats(this.#parts);
  }

  /** The messages of the last reply; several if the output limit cut it and it was continued. */
  get lastReplyParts(): readonly AssistantMessage[] {
    return lastReplyParts(this.messages);
  }

  /** The text of the last reply that has any; null if there is none. */
  get lastAssistantText(): string | null {
    return lastAssistantText(this.messages);
  }

  /** Empties all queues and returns the queued texts; their prompts end as aborted. */
  clearQueue(): Promise<{ steering: string[]; followUp: string[] }> {
    return this.#parts.intake.clearQueue();
  }

  /** Removes a queued message; its prompt ends as aborted. @throws {SessionError} `queue_item_not_found` */
  cancelQueued(itemId: string): Promise<{ text: string }> {
    return this.#parts.intake.cancelQueued(itemId);
  }

  /** Sets which events of subagents are reported as `subagent_event`; `none` by default. */
  setSubagentLevel(level: SubagentLevel): Promise<void> {
    return this.#parts.inputs.feed.setLevel(level);
  }

  /** Sets how queued messages are delivered in this session. */
  setQueueModes(modes: QueueModes): void {
    applyQueueModes(this.#parts.agent, modes);
  }

  /** Sets whether the calls of a reply run in parallel in this session, from the next reply on. */
  setToolExecution(mode: ToolExecutionMode): void {
    this.#parts.agent.toolExecution = mode;
  }

  /** Ends everything that runs and closes the file. May be called more than once. */
  dispose(): Promise<void> {
    this.#parts.admission.close();
    this.#disposal ??= endSession(this.#parts);
    return this.#disposal;
  }

  readonly [Symbol.asyncDispose] = (): Promise<void> => this.dispose();
}
