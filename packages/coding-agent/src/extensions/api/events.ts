import type {
  CompactionResult,
  SessionEntry,
  StreamRuleInfo,
  TodoItem,
} from "@tau-agent/rpc-protocol";
import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type {
  AgentMessage,
  BashExecutionMessage,
  ImageContent,
  LlmMessage,
  Model,
  ThinkingLevel,
  ToolResultMessage,
  Usage,
  UserContent,
} from "@tau-agent/rpc-protocol/messages";
import type { TreeMove } from "../../run/session-hooks.ts";
import type { SystemPromptOptions } from "./context.ts";

/** Pairs what a handler receives with what it may return. */
interface Pair<Payload, Result = undefined> {
  readonly payload: Payload;
  readonly result: Result;
}

/** A message an extension adds to the conversation. */
export interface CustomMessageInput {
  readonly customType: string;
  readonly content: string | UserContent[];
  /** Whether users see it; true by default. */
  readonly display?: boolean | undefined;
  readonly details?: unknown;
}

/** What is about to be compacted. */
interface CompactionPreparation {
  readonly firstKeptEntryId: string;
  readonly messagesToSummarize: readonly AgentMessage[];
  readonly turnPrefixMessages: readonly AgentMessage[];
  readonly isSplitTurn: boolean;
  readonly tokensBefore: number;
  readonly previousSummary?: string | undefined;
  readonly fileOps: unknown;
  readonly settings: unknown;
}

interface ToolExecution {
  readonly toolCallId: string;
  readonly toolName: string;
}

/** The result of a direct bash command, as an extension returns it. */
export type UserBashOutput = Pick<
  BashExecutionMessage,
  "output" | "exitCode" | "cancelled" | "truncated" | "fullOutputPath"
>;

/** Runs shell commands in another place, for example over ssh. */
export interface BashOperations {
  exec(
    command: string,
    cwd: string,
    options: {
      readonly onData: (data: Buffer) => void;
      readonly signal?: AbortSignal | undefined;
      /** Seconds. */
      readonly timeout?: number | undefined;
      readonly env?: Readonly<Record<string, string | undefined>> | undefined;
    },
  ): Promise<{ readonly exitCode: number | null }>;
}

/** An MCP server that an extension has registered. */
export interface RegisteredMcpServer {
  readonly name: string;
  readonly config: unknown;
  readonly extensionPath: string;
}

/** The system prompt as the head of a request's messages. */
export interface SystemMessage {
  readonly role: "system";
  readonly content: string | readonly { readonly type: "text"; readonly text: string }[];
  readonly timestamp: number;
}

/** An entry that an extension adds at the end of a turn or a run. */
export type BoundaryDraft =
  | { readonly type: "custom"; readonly customType: string; readonly data?: unknown }
  | ({ readonly type: "custom_message" } & CustomMessageInput)
  | {
      readonly type: "context_edit";
      readonly targetId: string;
      /** Replaces the target's content; null removes the target from the context. */
      readonly replacement: { readonly content: unknown } | null;
    }
  | {
      readonly type: "compaction";
      readonly summary: string;
      /** Null keeps nothing of the earlier conversation verbatim. */
      readonly firstKeptEntryId: string | null;
      readonly details?: unknown;
    };

/** The end of a turn or a run, with what earlier handlers requested there. */
export interface Boundary {
  readonly entries: readonly BoundaryDraft[];
  readonly continue: boolean;
  readonly outcome: "completed" | "aborted" | "error";
  /** The conversation including these entries; computed when read. */
  readonly context: {
    readonly contextMessages: readonly AgentMessage[];
    readonly llmMessages: readonly LlmMessage[];
    readonly pendingMessages: readonly AgentMessage[];
    /** Whether there is something for the model to answer. */
    readonly canContinue: boolean;
  };
}

/** Replaces the requests of earlier handlers. */
export interface BoundaryResult {
  readonly entries?: readonly BoundaryDraft[] | undefined;
  /** Whether to call the model once more, even if it had nothing left to do. */
  readonly continue?: boolean | undefined;
}

type StartReason = "startup" | "reload" | "new" | "resume" | "fork";
type ShutdownReason = "quit" | "reload" | "new" | "resume" | "fork";

/** The answer to an event before something that can be cancelled. */
interface CancelResult {
  readonly cancel?: boolean | undefined;
}

/** Every event: what handlers receive (in addition to `type`) and what they may return. */
export interface ExtensionEventMap {
  project_trust: Pair<
    { cwd: string },
    { trusted?: "yes" | "no" | "undecided" | undefined; remember?: boolean | undefined }
  >;
  resources_discover: Pair<
    { cwd: string; reason: "startup" | "reload" },
    {
      skillPaths?: readonly string[] | undefined;
      promptPaths?: readonly string[] | undefined;
      themePaths?: readonly string[] | undefined;
    }
  >;
  mcp_servers_change: Pair<{ servers: readonly RegisteredMcpServer[] }>;
  session_start: Pair<{ reason: StartReason; previousSessionFile?: string | undefined }>;
  session_info_changed: Pair<{ name: string | undefined }>;
  session_before_switch: Pair<
    { reason: "new" | "resume"; targetSessionFile?: string | undefined },
    CancelResult
  >;
  session_switch: Pair<{ reason: "new" | "resume"; previousSessionFile: string | undefined }>;
  session_before_fork: Pair<
    { entryId: string; position: "before" | "at" },
    CancelResult & { skipConversationRestore?: boolean | undefined }
  >;
  session_fork: Pair<{ previousSessionFile: string | undefined }>;
  session_shutdown: Pair<{ reason: ShutdownReason; targetSessionFile?: string | undefined }>;
  session_before_compact: Pair<
    {
      preparation: CompactionPreparation;
      branchEntries: readonly SessionEntry[];
      customInstructions?: string | undefined;
      reason: "manual" | "threshold" | "overflow";
      willRetry: boolean;
      signal: AbortSignal;
    },
    CancelResult & { compaction?: (CompactionResult & { usage?: Usage }) | undefined }
  >;
  session_compact: Pair<{
    compactionEntry: SessionEntry;
    fromExtension: boolean;
    reason: "manual" | "threshold" | "overflow";
    willRetry: boolean;
  }>;
  session_compact_failed: Pair<{
    reason: "manual" | "threshold" | "overflow";
    errorMessage?: string | undefined;
    aborted: boolean;
    willRetry: boolean;
    fromExtension: boolean;
  }>;
  session_before_tree: Pair<
    { preparation: TreeMove; signal: AbortSignal },
    CancelResult & {
      summary?: { summary: string; details?: unknown } | undefined;
      customInstructions?: string | undefined;
      replaceInstructions?: boolean | undefined;
      label?: string | undefined;
    }
  >;
  session_tree: Pair<{
    newLeafId: string | null;
    oldLeafId: string | null;
    summaryEntry?: SessionEntry | undefined;
    fromExtension?: boolean | undefined;
  }>;
  input: Pair<
    {
      text: string;
      images?: readonly ImageContent[] | undefined;
      source: "interactive" | "rpc" | "extension";
      streamingBehavior?: "steer" | "followUp" | undefined;
    },
    | { action: "continue" }
    | { action: "transform"; text: string; images?: readonly ImageContent[] | undefined }
    | { action: "handled" }
  >;
  before_agent_start: Pair<
    {
      prompt: string;
      images?: readonly ImageContent[] | undefined;
      systemPrompt: string;
      systemPromptOptions: SystemPromptOptions;
      messageType: "user" | "custom";
    },
    { message?: CustomMessageInput | undefined; systemPrompt?: string | undefined }
  >;
  ttsr_triggered: Pair<{ rules: readonly StreamRuleInfo[] }>;
  todo_reminder: Pair<{ todos: TodoItem[]; attempt: number; maxAttempts: number }>;
  agent_start: Pair<object>;
  agent_end: Pair<{ messages: readonly AgentMessage[] }>;
  agent_before_settle: Pair<Boundary, BoundaryResult>;
  agent_settled: Pair<{ aborted: boolean }>;
  ui_prompt_start: Pair<{ reason: "ui_prompt"; kind: string; title: string }>;
  ui_prompt_end: Pair<{ reason: "ui_prompt"; kind: string; title: string }>;
  turn_start: Pair<{ turnIndex: number; timestamp: number }>;
  turn_end: Pair<
    Boundary & {
      turnIndex: number;
      message: AgentMessage;
      toolResults: readonly ToolResultMessage[];
      /** Empty if the message could not be recorded. */
      messageEntryId: string;
      toolResultEntryIds: readonly string[];
    },
    BoundaryResult
  >;
  message_start: Pair<{ message: AgentMessage }>;
  message_update: Pair<{ message: AgentMessage; assistantMessageEvent: AssistantMessageEvent }>;
  message_end: Pair<{ message: AgentMessage }, { message?: AgentMessage | undefined }>;
  tool_execution_start: Pair<ToolExecution & { args: unknown }>;
  tool_execution_update: Pair<ToolExecution & { args: unknown; partialResult: unknown }>;
  tool_execution_end: Pair<ToolExecution & { result: unknown; isError: boolean }>;
  context: Pair<{ messages: AgentMessage[] }, { messages?: readonly AgentMessage[] | undefined }>;
  context_with_system: Pair<
    { messages: (AgentMessage | SystemMessage)[] },
    { messages?: readonly (AgentMessage | SystemMessage)[] | undefined }
  >;
  before_provider_request: Pair<{ payload: unknown }, unknown>;
  before_provider_headers: Pair<{ headers: Record<string, string | null> }>;
  after_provider_response: Pair<{ status: number; headers: Readonly<Record<string, string>> }>;
  provider_stream_event: Pair<{ provider: string; api: string; model: string; data: unknown }>;
  cache_warming_decision: Pair<object, { action?: unknown }>;
  model_select: Pair<{
    model: Model;
    previousModel?: Model | undefined;
    source: "set" | "cycle" | "restore";
  }>;
  thinking_level_select: Pair<{ level: ThinkingLevel; previousLevel: ThinkingLevel }>;
  tool_call: Pair<
    ToolExecution & { input: Record<string, unknown> },
    {
      block?: boolean | undefined;
      reason?: string | undefined;
      terminate?: boolean | undefined;
      /** New arguments, as an alternative to changing the event's `input`. */
      input?: Record<string, unknown> | undefined;
    }
  >;
  tool_result: Pair<
    ToolExecution & {
      input: Record<string, unknown>;
      content: readonly UserContent[];
      details: unknown;
      structuredContent?: unknown;
      isError: boolean;
    },
    {
      content?: readonly UserContent[] | undefined;
      details?: unknown;
      isError?: boolean | undefined;
      /** Belongs to the content: new content without it removes the old value. */
      structuredContent?: unknown;
      usage?: Usage | undefined;
    }
  >;
  user_bash: Pair<
    { command: string; excludeFromContext: boolean; cwd: string },
    { operations?: BashOperations | undefined; result?: UserBashOutput | undefined }
  >;
}

/** Name of an event. */
export type ExtensionEventName = keyof ExtensionEventMap;

/** What a handler of an event receives. */
export type ExtensionEvent<Name extends ExtensionEventName> = {
  type: Name;
} & ExtensionEventMap[Name]["payload"];

/** What a handler of an event may return. */
export type ExtensionEventResult<Name extends ExtensionEventName> =
  ExtensionEventMap[Name]["result"];
