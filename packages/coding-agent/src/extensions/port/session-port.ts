import type { StreamFunction } from "@tau-agent/ai";
import type { ModelRegistry, ScopedModel } from "@tau-agent/models";
import type { SessionEntry } from "@tau-agent/rpc-protocol";
import type {
  AgentMessage,
  Model,
  ThinkingLevel,
  UserContent,
} from "@tau-agent/rpc-protocol/messages";
import type { NewEntry, SessionLog } from "@tau-agent/sessions/log";
import type { SettingsStore, ToolEnvironment } from "@tau-agent/system";
import type { SystemPromptInput } from "../../resources/system-prompt.ts";
import type { DeliveryOptions, SlashCommandInfo } from "../api/api.ts";
import type {
  Cancellable,
  CompactOptions,
  ContextUsage,
  ForkOptions,
  NavigateTreeOptions,
  NewSessionOptions,
} from "../api/context.ts";
import type { BoundaryDraft, CustomMessageInput } from "../api/events.ts";
import type { ToolInfo } from "../api/tool.ts";
import type { ExecEnvironment } from "./exec.ts";

/** What extensions can do with a session. Members are read on each access, so they are always current. */
export interface SessionPort {
  readonly log: SessionLog;
  readonly registry: ModelRegistry;
  readonly settings: SettingsStore;
  readonly stream: StreamFunction;
  readonly execEnvironment: ExecEnvironment;
  /** The environment of the session's own tools. */
  readonly toolEnvironment: ToolEnvironment;
  readonly model: Model | undefined;
  readonly scopedModels: readonly ScopedModel[];
  readonly thinkingLevel: ThinkingLevel;
  readonly signal: AbortSignal | undefined;
  readonly isIdle: boolean;
  readonly isProjectTrusted: boolean;
  readonly hasPendingMessages: boolean;
  readonly contextUsage: ContextUsage | undefined;
  /** The system prompt as last built. */
  readonly systemPrompt: string;
  readonly promptInput: SystemPromptInput;
  buildSystemPrompt(): Promise<string>;
  /** The templates and skills that were read so far. */
  readonly textCommands: readonly SlashCommandInfo[];
  setModel(model: Model): Promise<boolean>;
  setThinkingLevel(level: ThinkingLevel): void;
  abort(): void;
  shutdown(): void;
  compact(options: CompactOptions): Promise<unknown>;
  sendMessage(
    message: CustomMessageInput,
    options: DeliveryOptions & { readonly triggerTurn?: boolean | undefined },
  ): Promise<unknown>;
  sendUserMessage(
    content: string | UserContent[],
    options: DeliveryOptions & { readonly expandPromptTemplates?: boolean | undefined },
  ): Promise<unknown>;
  append(entry: NewEntry): SessionEntry;
  /** The messages of the conversation, or as they would be with these entries added. */
  messagesWith(drafts: readonly BoundaryDraft[]): readonly AgentMessage[];
  readonly pendingMessages: readonly AgentMessage[];
  addEntries(drafts: readonly BoundaryDraft[]): Promise<void>;
  setName(name: string): void;
  allTools(): ToolInfo[];
  activeTools(): string[];
  setActiveTools(names: readonly string[]): void;
  /** Called when an extension has registered a tool after it was loaded. */
  toolsChanged(): void;
  waitForIdle(): Promise<void>;
  newSession(options: Omit<NewSessionOptions, "withSession">): Promise<Cancellable>;
  fork(entryId: string, options: Pick<ForkOptions, "position">): Promise<Cancellable>;
  navigateTree(targetId: string, options: NavigateTreeOptions): Promise<Cancellable>;
  switchSession(sessionPath: string): Promise<Cancellable>;
  reload(): Promise<Cancellable>;
}
