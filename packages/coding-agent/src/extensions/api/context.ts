import type { SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { Model, ThinkingLevel, ToolCall, UserContent } from "@tau-agent/rpc-protocol/messages";
import type { ManagedTimers } from "./managed-timers.ts";
import type { ExtensionModels } from "./models.ts";
import type { ExtensionUi } from "./ui.ts";

/** A node of the session as a tree. */
export interface SessionTreeNode {
  readonly entry: SessionEntry;
  readonly children: SessionTreeNode[];
  readonly label?: string | undefined;
}

/** The session, to read. */
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
  /** False for a session that lives in memory only. */
  isPersisted(): boolean;
  /** The latest compaction of the branch, when there is one, and the entries that count besides it. */
  buildContextEntries(): SessionEntry[];
  /** Root to `fromId`, or to the leaf. */
  getBranch(fromId?: string): SessionEntry[];
  getChildren(parentId: string): SessionEntry[];
  getLabel(id: string): string | undefined;
  getTree(): SessionTreeNode[];
  /** What the model is sent for the current branch, with the model and level it names. */
  buildSessionContext(): {
    readonly messages: unknown[];
    readonly thinkingLevel: string;
    readonly model: { readonly provider: string; readonly modelId: string } | null;
  };
}

/** How full the model's context window is; null while nobody knows. */
export interface ContextUsage {
  readonly tokens: number | null;
  readonly contextWindow: number;
  /** 0 to 100. */
  readonly percent: number | null;
}

/** What a compaction that an extension asks for reports back. */
export interface CompactOptions {
  readonly customInstructions?: string | undefined;
  readonly onComplete?: ((result: unknown) => void) | undefined;
  readonly onError?: ((error: Error) => void) | undefined;
}

/** How the host talks to people. */
export type ExtensionMode = "tui" | "rpc" | "json" | "print";

/** What an event handler or tool gets besides its event. Members are live, not a copy. */
export interface ExtensionContext extends ManagedTimers {
  readonly ui: ExtensionUi;
  readonly mode: ExtensionMode;
  /** Whether `ui` reaches anyone. */
  readonly hasUI: boolean;
  readonly cwd: string;
  readonly sessionManager: ReadonlySession;
  /** The models that can be asked, as some hosts show them. */
  readonly models: {
    list(): Model[];
    current(): Model | undefined;
    /** The model of `provider/id`, or of an id that only one has. */
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
  /** Aborted with the run that is on; undefined while idle. */
  readonly signal: AbortSignal | undefined;
  isIdle(): boolean;
  isProjectTrusted(): boolean;
  abort(): void;
  hasPendingMessages(): boolean;
  /** Ends the host as soon as it is idle and what was asked is answered. */
  shutdown(): void;
  getContextUsage(): ContextUsage | undefined;
  /** Begins a compaction and returns at once. */
  compact(options?: CompactOptions): void;
  getSystemPrompt(): string;
}

/** Whether something was called off, by an extension mostly. */
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

/** What `setup` of a new session may write. */
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
  /** `before` (default) leaves the entry out, `at` keeps it. */
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

/** The parts of the system prompt. In `before_agent_start` what is changed in them counts for the run. */
export interface SystemPromptOptions {
  cwd: string;
  /** Stands instead of preamble, tools and rules. */
  customPrompt?: string | undefined;
  selectedTools: string[];
  /** Selected tools the prompt does not speak of. */
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
  /** Further parts, by the tag around each. */
  sections: Record<string, string>;
}

/** What a tool gets: it may also run other tools. */
export interface ToolContext extends ExtensionContext {
  /** The active tools. */
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly parameters: object;
  }[];
  /** Runs another tool like a call of the model's, with checks and handlers; never rejects. */
  executeTool(
    name: string,
    args: unknown,
    options?: {
      readonly signal?: AbortSignal | undefined;
      readonly onUpdate?: ((partial: unknown) => void) | undefined;
    },
  ): Promise<NestedOutcome>;
}

/** How a tool that another one ran ended. */
export interface NestedOutcome {
  readonly toolCall: ToolCall;
  readonly result: ToolResult;
  readonly isError: boolean;
  /** Milliseconds. */
  readonly durationMs: number;
}

/** What the handler of a command gets: it may also change sessions. */
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
  /** Loads extensions, settings, skills and templates again. */
  reload(): Promise<Cancellable>;
}
