import type {
  AnswerQuestions,
  Approve,
  RaiseBudget,
  SessionEvent,
  SessionStats,
  SubagentInfo,
  SubagentLevel,
} from "@tau-agent/rpc-protocol";
import type { AgentMessage, Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import type { RunnableHostTool } from "../../host-tools/host-tools.ts";
import type { ServedUris } from "../../host-tools/host-uris.ts";
import type { PermissionChange } from "../../permissions/permission-settings.ts";
import type { AgentDefinition } from "../agents/agent-definition.ts";
import type { BudgetChange } from "../budgets/session-limits.ts";

/** What a runner needs to start a subagent. */
export interface SubagentRequest {
  readonly id: string;
  readonly agent: AgentDefinition;
  /** Where it works: the caller's folder or an isolated tree. */
  readonly cwd: string;
  /** The user's folder that `cwd` is an isolated copy of; undefined if it is not a copy. */
  readonly standsFor: string | undefined;
  readonly model: Model | undefined;
  /** A model pattern as for `--model`, if the session does not know the model itself. */
  readonly modelPattern: string | undefined;
  /** Models that answer in this order if that one fails; undefined for those of its host's settings. */
  readonly fallbackModels: readonly string[] | undefined;
  readonly thinkingLevel: ThinkingLevel;
  /** The file of the conversation to continue; a new conversation if absent. */
  readonly resumes?: string | undefined;
  /** The folder of its session file; in memory if absent. */
  readonly sessionDirectory: string | undefined;
  /** Its nesting depth: 1 if a person's session starts it. */
  readonly depth: number;
  readonly maySpawn: boolean;
  /** Tools it must not have even if its agent lists them; patterns as for `--exclude-tools`. */
  readonly excludedTools: readonly string[];
  readonly isProjectTrusted: boolean;
  readonly mcpServers: SubagentServers;
  readonly budget: BudgetChange;
  /** Aborts the subagent, even before it has started. */
  readonly signal: AbortSignal;
  /** The subagent waits for a returned promise. */
  readonly onEvent: (event: SessionEvent) => void | Promise<void>;
  /** The caller's permissions, which the subagent gets before it does anything. */
  readonly permissions: PermissionChange;
  /** The span of the call that starts the subagent; undefined without telemetry. */
  readonly traceparent: string | undefined;
  /** Asks the caller's client for approval. */
  readonly approve: Approve;
  /** Decides about limits that the subagent has used up. */
  readonly raiseBudget: RaiseBudget;
  /** Passes the questions of the subagent's model to the caller's client; undefined if nobody can answer. */
  readonly answerQuestions: AnswerQuestions | undefined;
}

export interface SubagentServers {
  /** The names of the servers to use; other servers in files are ignored. */
  readonly only: readonly string[];
  /** The servers that only the caller's session knows, as entries of mcp.json. */
  readonly added: Readonly<Record<string, unknown>>;
}

/** How a prompt to a subagent ended. */
export interface SubagentReply {
  readonly status: "completed" | "aborted" | "error";
  /** The text of its last message. */
  readonly text: string;
  readonly error?: string | undefined;
}

/** The tokens and cost of a subagent, including those of subagents that it started. */
export type SubagentUse = Pick<SessionStats, "tokens" | "cost">;

/** The messages of a conversation after an entry. */
export interface SubagentMessages {
  readonly messages: AgentMessage[];
  /** The id of the last message, for the next `since`. */
  readonly lastEntryId?: string | undefined;
}

/** What the owner of subagents can do with each of them; a nested subagent is named by its path. */
export interface SubagentControl {
  list(): Promise<SubagentInfo[]>;
  messages(path: string, since?: string): Promise<SubagentMessages>;
  steer(path: string, message: string): Promise<void>;
  abort(path: string): Promise<void>;
  resume(path: string, message: string): Promise<void>;
}

/** A running subagent. */
export interface Subagent {
  readonly sessionFile: string | undefined;
  /** The control of its own subagents; undefined if its host does not support this. */
  readonly control?: SubagentControl | undefined;
  /** Sends it a message during a run. */
  readonly steer?: ((message: string) => Promise<void>) | undefined;
  /** @param isAfterUntrusted - whether foreign text may have influenced the prompt */
  prompt(text: string, isAfterUntrusted: boolean): Promise<SubagentReply>;
  /** Changes its limits, which apply to all its prompts together. */
  setBudget(change: BudgetChange): Promise<void>;
  /** Changes its permissions. Without this, a session with restricted permissions cannot have subagents. */
  setPermissions?(change: PermissionChange): Promise<void>;
  /** Adds MCP servers to those in files. */
  setMcpServers?(servers: Readonly<Record<string, unknown>>): Promise<void>;
  /** Replaces the tools that it calls through its caller's session. */
  setHostTools?(tools: readonly RunnableHostTool[]): Promise<void>;
  /** Replaces the URIs that it reads and writes through its caller's session. */
  setHostUris?(served: readonly ServedUris[]): Promise<void>;
  /** Sets which events of its own subagents it reports. */
  setEventLevel(level: SubagentLevel): Promise<void>;
  /** Its total use, according to its own statistics. */
  used?(): Promise<SubagentUse | undefined>;
  /** The lines of its session, if it is on another machine or in no file. */
  transcript?(): Promise<readonly object[]>;
  /** Ends it and everything it started. May be called during a prompt. */
  stop(): Promise<void>;
}

/** Starts subagents: as processes of the same host, or in the embedder's own process. */
export type SubagentRunner = (request: SubagentRequest) => Promise<Subagent>;

export function excludedFor({ excludedTools, maySpawn }: SubagentRequest): readonly string[] {
  return maySpawn ? excludedTools : [...excludedTools, "task"];
}
