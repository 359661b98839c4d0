import type { SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { Model, ThinkingLevel, ToolCall, UserContent } from "@tau-agent/rpc-protocol/messages";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import type { ManagedTimers } from "./managed-timers.ts";
import type { ExtensionModels } from "./models.ts";
import type { ExtensionUi } from "./ui.ts";

/** A node of the session as a tree. */
export interface SessionTreeNode {
  readonly entry: SessionEntry;
  readonly children: SessionTreeNode[];
  readonly label?: string | undefined;
}

/** Read access to the session. */
export interface ReadonlySession {
  getCwd(): string;
  getSessionDir(): string;
  getSessionId(): string;
  getSessionFile(): string | undefined;
  getSessionName(): string | undefined;
  getHeader(): SessionHeader;
  getLeafId(): string | null;
  getLeafEntry(): SessionEntry | undefined;
  getEntry(id: string): SessionEntry | undefined;
  getEntries(): SessionEntry[];
  getEntryCount(): number;
  /** False for an in-memory session. */
  isPersisted(): boolean;
  /** The latest compaction of the branch, if any, and the other entries that are part of the context. */
  buildContextEntries(): SessionEntry[];
  /** The entries from the root to `fromId`, or to the leaf. */
  getBranch(fromId?: string): SessionEntry[];
  getChildren(parentId: string): SessionEntry[];
  getLabel(id: string): string | undefined;
  getTree(): SessionTreeNode[];
  /** The messages that the model receives for the current branch, with the branch's model and thinking level. */
  buildSessionContext(): {
    readonly messages: unknown[];
    readonly thinkingLevel: string;
    readonly model: { readonly provider: string; readonly modelId: string } | null;
  };
}

/** How full the model's context window is; null while unknown. */
export interface ContextUsage {
  readonly tokens: number | null;
  readonly contextWindow: number;
  /** From 0 to 100. */
  readonly percent: number | null;
}

/** The result of a compaction that an extension requested. */
export interface CompactOptions {
  readonly customInstructions?: string | undefined;
  readonly onComplete?: ((result: unknown) => void) | undefined;
  readonly onError?: ((error: Error) => void) | undefined;
}

/** How the host talks to people. */
export type ExtensionMode = "tui" | "rpc" | "json" | "print";

/** What an event handler or tool receives in addition to its event. Members are live, not copies. */
export interface ExtensionContext extends ManagedTimers {
  readonly ui: ExtensionUi;
  readonly mode: ExtensionMode;
  /** Whether `ui` reaches a user. */
  readonly hasUI: boolean;
  /** The working folder; a path of `workspace`. */
  readonly cwd: string;
  /** Files and commands where the tools of the session act, within its sandbox. */
  readonly workspace: Workspace;
  readonly sessionManager: ReadonlySession;
  /** The available models, as some hosts show them. */
  readonly models: {
    list(): Model[];
    current(): Model | undefined;
    /** The model named `provider/id`, or with a unique id. */
    resolve(name: string): Model | undefined;
    family(model: Model): string;
  };
  readonly modelRegistry: ExtensionModels;
  readonly model: Model | undefined;
  readonly scopedModels: readonly {
    readonly model: Model;
    readonly thinkingLevel?: ThinkingLevel | undefined;
  }[];
  readonly thinkingLevel: ThinkingLevel;
  /** Aborted with the current run; undefined while idle. */
  readonly signal: AbortSignal | undefined;
  isIdle(): boolean;
  isProjectTrusted(): boolean;
  abort(): void;
  hasPendingMessages(): boolean;
  /** Ends the host as soon as it is idle and has answered everything. */
  shutdown(): void;
  getContextUsage(): ContextUsage | undefined;
  /** Begins a compaction and returns at once. */
  compact(options?: CompactOptions): void;
  getSystemPrompt(): string;
}

/** Whether something was cancelled, usually by an extension. */
export interface Cancellable {
  readonly cancelled: boolean;
}

/** Options of {@link CommandContext.newSession}. */
export interface NewSessionOptions {
  readonly parentSession?: string | undefined;
  /** Writes the first entries of the new session. */
  readonly setup?: ((session: SessionSetup) => void | Promise<void>) | undefined;
  /** Runs in the new session, with a context that belongs to it. */
  readonly withSession?: ((context: CommandContext) => void | Promise<void>) | undefined;
}

/** What the `setup` of a new session may write. */
export interface SessionSetup extends ReadonlySession {
  appendMessage(message: unknown): string;
  appendCustomEntry(customType: string, data?: unknown): string;
  appendCustomMessageEntry(
    customType: string,
    content: string | UserContent[],
    display: boolean,
    details?: unknown,
  ): string;
  appendSessionInfo(name: string): string;
  appendLabelChange(targetId: string, label: string | undefined): string;
}

/** Options of {@link CommandContext.fork}. */
export interface ForkOptions {
  /** `before` (default) excludes the entry, `at` includes it. */
  readonly position?: "before" | "at" | undefined;
  readonly withSession?: ((context: CommandContext) => void | Promise<void>) | undefined;
}

/** Options of {@link CommandContext.navigateTree}. */
export interface NavigateTreeOptions {
  readonly summarize?: boolean | undefined;
  readonly customInstructions?: string | undefined;
  readonly replaceInstructions?: boolean | undefined;
  readonly label?: string | undefined;
}

/** The parts of the system prompt. In `before_agent_start`, changes to them apply to the run. */
export interface SystemPromptOptions {
  cwd: string;
  /** Replaces preamble, tools and rules. */
  customPrompt?: string | undefined;
  selectedTools: string[];
  /** Active tools that the prompt does not mention. */
  hiddenTools: string[];
  toolSnippets: Record<string, string>;
  toolGuidelines: Record<string, string[]>;
  promptGuidelines: string[];
  appendSystemPrompt: string;
  contextFiles: { path: string; content: string }[];
  skills: {
    name: string;
    description: string;
    filePath: string;
    baseDir: string;
    disableModelInvocation: boolean;
  }[];
  /** Additional parts, keyed by the name of the tag around each. */
  sections: Record<string, string>;
}

/** What a tool receives: a context that can also run other tools. */
export interface ToolContext extends ExtensionContext {
  /** The active tools. */
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly parameters: object;
  }[];
  /** Runs another tool like a call of the model, with checks and handlers; never rejects. */
  executeTool(
    name: string,
    args: unknown,
    options?: {
      readonly signal?: AbortSignal | undefined;
      readonly onUpdate?: ((partial: unknown) => void) | undefined;
    },
  ): Promise<NestedOutcome>;
}

/** The outcome of a tool that another one ran. */
export interface NestedOutcome {
  readonly toolCall: ToolCall;
  readonly result: ToolResult;
  readonly isError: boolean;
  /** Milliseconds. */
  readonly durationMs: number;
}

/** What the handler of a command receives: a context that can also change sessions. */
export interface CommandContext extends ExtensionContext {
  /** What the system prompt is built from. */
  getSystemPromptOptions(): SystemPromptOptions;
  waitForIdle(): Promise<void>;
  newSession(options?: NewSessionOptions): Promise<Cancellable>;
  fork(entryId: string, options?: ForkOptions): Promise<Cancellable>;
  /** The older name of `fork`. */
  branch(entryId: string): Promise<Cancellable>;
  navigateTree(targetId: string, options?: NavigateTreeOptions): Promise<Cancellable>;
  switchSession(
    sessionPath: string,
    options?: Pick<NewSessionOptions, "withSession">,
  ): Promise<Cancellable>;
  /** Reloads extensions, settings, skills and templates. */
  reload(): Promise<Cancellable>;
}
