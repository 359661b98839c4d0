import type { StreamFunction } from "@tau-agent/ai";
import type { ModelRegistry, ScopedModel } from "@tau-agent/models";
import type { SessionEntry } from "@tau-agent/rpc-protocol";
import type {
  AgentMessage,
  ImageContent,
  Model,
  ThinkingLevel,
  UserContent,
} from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import type { NewEntry, SessionLog } from "@tau-agent/sessions/log";
import type { SettingsStore } from "@tau-agent/system";
import type { PromptResources } from "../resources/resources.ts";
import type { SystemPromptInput } from "../resources/system-prompt.ts";
import type { AgentSession } from "../session/agent-session.ts";
import type { SessionParts } from "../session/session-parts.ts";
import { fitContent } from "../user-input/fit-content.ts";
import type { DeliveryOptions, SlashCommandInfo } from "./api/api.ts";
import type {
  Cancellable,
  CompactOptions,
  ContextUsage,
  ForkOptions,
  NavigateTreeOptions,
  NewSessionOptions,
} from "./api/context.ts";
import { ExtensionError } from "./api/errors.ts";
import type { BoundaryDraft, CustomMessageInput } from "./api/events.ts";
import type { SourceInfo, ToolInfo } from "./api/tool.ts";
import { sessionWriter } from "./context/session-view.ts";
import { contextUsageOf, customMessageOf, type ExtensionHooks } from "./extension-hooks.ts";
import type { ExtensionSystem } from "./extension-system.ts";
import { sourceInfoOf } from "./load/source-info.ts";
import type { ExecEnvironment } from "./port/exec.ts";
import type { SessionPort } from "./port/session-port.ts";
import { addEntries, messagesWith, pendingMessages } from "./session-entries.ts";

export interface PortOptions {
  readonly session: AgentSession;
  readonly parts: SessionParts;
  readonly system: ExtensionSystem;
  readonly hooks: ExtensionHooks;
  readonly resources: PromptResources;
  readonly execEnvironment: ExecEnvironment;
  readonly textCommands: () => readonly SlashCommandInfo[];
  /** Ends the host; without it the request is ignored. */
  readonly onShutdown: (() => void) | undefined;
  readonly toolsChanged: () => void;
}

export class AgentSessionPort implements SessionPort {
  readonly registry: ModelRegistry;
  readonly settings: SettingsStore;
  readonly stream: StreamFunction;
  readonly execEnvironment: ExecEnvironment;
  readonly scopedModels: readonly ScopedModel[];
  readonly toolsChanged: () => void;
  readonly #options: PortOptions;
  readonly #session: AgentSession;
  readonly #parts: SessionParts;
  readonly #runs: { readonly isEnding: boolean };
  #systemPrompt = "";
  #promptInput: SystemPromptInput;

  constructor(options: PortOptions) {
    const { session, parts } = options;
    this.registry = session.models.registry;
    this.settings = session.settings;
    this.stream = options.system.stream;
    this.execEnvironment = options.execEnvironment;
    this.scopedModels = parts.inputs.scope;
    this.toolsChanged = options.toolsChanged;
    this.#options = options;
    this.#session = session;
    this.#parts = parts;
    this.#runs = watchRuns(session);
    this.#promptInput = { tools: [], cwd: options.execEnvironment.cwd };
  }

  get log(): SessionLog {
    return this.#parts.conversation.log;
  }

  get model(): Model | undefined {
    return this.#session.models.model;
  }

  get thinkingLevel(): ThinkingLevel {
    return this.#session.models.thinkingLevel;
  }

  get signal(): AbortSignal | undefined {
    return this.#session.signal;
  }

  get isIdle(): boolean {
    return !this.#session.isBusy;
  }

  get isProjectTrusted(): boolean {
    return this.#session.isProjectTrusted;
  }

  get hasPendingMessages(): boolean {
    const { steering, followUp } = this.#parts.agent;
    return steering.size + followUp.size > 0;
  }

  get pendingMessages(): readonly AgentMessage[] {
    return pendingMessages(this.#parts.agent);
  }

  get contextUsage(): ContextUsage | undefined {
    return contextUsageOf(this.#session.messages, this.model);
  }

  get systemPrompt(): string {
    return this.#options.hooks.systemPrompt(this.#systemPrompt);
  }

  get promptInput(): SystemPromptInput {
    return this.#promptInput;
  }

  get textCommands(): readonly SlashCommandInfo[] {
    return this.#options.textCommands();
  }

  async buildSystemPrompt(): Promise<string> {
    this.#systemPrompt = await this.#session.buildSystemPrompt();
    this.#promptInput = await this.#options.resources.promptInput(this.#session.tools.named);
    return this.#systemPrompt;
  }

  async setModel(model: Model): Promise<boolean> {
    if (!(await this.registry.isAvailable(model))) return false;
    await this.#session.setModel(model);
    return true;
  }

  setThinkingLevel(level: ThinkingLevel): void {
    this.#session.setThinkingLevel(level);
  }

  abort(): void {
    void this.#session.abort();
  }

  shutdown(): void {
    const { onShutdown } = this.#options;
    if (onShutdown === undefined) return;
    void this.#session.waitForIdle().then(() => setImmediate(onShutdown));
  }

  compact({ customInstructions }: CompactOptions): Promise<unknown> {
    return this.#session.compact(customInstructions);
  }

  async sendMessage(
    message: CustomMessageInput,
    { deliverAs, triggerTurn }: DeliveryOptions & { readonly triggerTurn?: boolean | undefined },
  ): Promise<unknown> {
    const { content } = message;
    const session = this.#session;
    const fitted = typeof content === "string" ? content : fitContent(content, this.settings);
    // Text stays in its turn of the event loop.
    const custom = customMessageOf({
      ...message,
      content: fitted instanceof Promise ? await fitted : fitted,
    });
    if (deliverAs === "nextTurn") return this.#options.hooks.keepForNextTurn(custom);
    if (!session.isStreaming && triggerTurn !== true) return session.deliver(custom, "none");
    return session.deliver(custom, deliverAs ?? "steer");
  }

  async sendUserMessage(
    content: string | UserContent[],
    {
      deliverAs,
      expandPromptTemplates,
    }: DeliveryOptions & { readonly expandPromptTemplates?: boolean | undefined },
  ): Promise<void> {
    const session = this.#session;
    if (session.isStreaming && deliverAs === undefined && !this.#runs.isEnding) {
      const text = "A run is active: set deliverAs to steer it or to follow up";
      throw new ExtensionError("not_ready", text);
    }
    const isQueued = deliverAs !== undefined || session.isStreaming;
    const behavior = deliverAs === "steer" ? "steer" : isQueued ? "followUp" : undefined;
    const { text, images } = partsOf(content);
    await session.submit(text, {
      images,
      source: "extension",
      verbatim: expandPromptTemplates !== true,
      streamingBehavior: behavior,
    });
  }

  append(entry: NewEntry): SessionEntry {
    return this.#parts.conversation.append(entry);
  }

  messagesWith(drafts: readonly BoundaryDraft[]): readonly AgentMessage[] {
    return messagesWith(this.#parts.conversation, drafts);
  }

  addEntries(drafts: readonly BoundaryDraft[]): Promise<void> {
    return addEntries(this.#session, this.#parts.conversation, drafts);
  }

  setName(name: string): void {
    this.#session.setName(name);
  }

  allTools(): ToolInfo[] {
    return this.#session.tools.all.map(({ name, description, parameters, promptGuidelines }) => ({
      name,
      description,
      parameters,
      ...(promptGuidelines === undefined ? {} : { promptGuidelines }),
      sourceInfo: sourceOf(name, this.#options.system),
    }));
  }

  activeTools(): string[] {
    return this.#session.tools.active.map(({ name }) => name);
  }

  setActiveTools(names: readonly string[]): void {
    this.#session.tools.activate(names);
  }

  waitForIdle(): Promise<void> {
    return this.#session.waitForIdle();
  }

  newSession({
    parentSession,
    setup,
  }: Omit<NewSessionOptions, "withSession">): Promise<Cancellable> {
    const write = setup && ((log: SessionLog) => setup(sessionWriter(() => log)));
    return this.#session.navigation.newSession(parentSession, write);
  }

  fork(entryId: string, { position }: Pick<ForkOptions, "position">): Promise<Cancellable> {
    return this.#session.navigation.fork(entryId, position === undefined ? {} : { position });
  }

  navigateTree(targetId: string, options: NavigateTreeOptions): Promise<Cancellable> {
    return this.#session.navigation.navigate(targetId, options);
  }

  switchSession(sessionPath: string): Promise<Cancellable> {
    return this.#session.navigation.switchSession(sessionPath);
  }

  async reload(): Promise<Cancellable> {
    if (this.#session.isBusy) throw new SessionError("busy");
    await this.settings.reload();
    this.#options.resources.reload();
    this.#parts.requests.forgetSystemPrompt();
    await this.#options.hooks.reload();
    return { cancelled: false };
  }
}

/** Extensions of older hosts go on from the end of a run, which was over by then. */
function watchRuns(session: AgentSession): { readonly isEnding: boolean } {
  const runs = { isEnding: false };
  session.subscribe(({ type }) => {
    if (type === "agent_end") runs.isEnding = true;
    else if (type === "agent_start") runs.isEnding = false;
  });
  return runs;
}

function sourceOf(name: string, { runner }: ExtensionSystem): SourceInfo {
  const owner = runner.tools.find(({ tool }) => tool.name === name)?.extension;
  if (owner === undefined) {
    return { path: "", source: "builtin", scope: "temporary", origin: "top-level" };
  }
  return sourceInfoOf(owner);
}

function partsOf(content: string | UserContent[]): { text: string; images: ImageContent[] } {
  if (typeof content === "string") return { text: content, images: [] };
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const images = content.filter((block): block is ImageContent => block.type === "image");
  return { text: texts.join("\n"), images };
}
