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

/** The order for one subagent. */
export interface SubagentRequest {
  readonly id: string;
  readonly agent: AgentDefinition;
  /** Where it works: the caller's folder or an isolated tree. */
  readonly cwd: string;
  /** The folder of the user that `cwd` is an isolated copy of; undefined for no copy. */
  readonly standsFor: string | undefined;
  readonly model: Model | undefined;
  /** A pattern as for `--model`, if the session itself knows no such model. */
  readonly modelPattern: string | undefined;
  /** Models that answer when that one fails; undefined for what its host's settings say. */
  readonly fallbackModels: readonly string[] | undefined;
  readonly thinkingLevel: ThinkingLevel;
  /** The file of the conversation that it goes on with; a new one if absent. */
  readonly resumes?: string | undefined;
  /** Where its session file goes; in memory when absent. */
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
  /** A promise holds the subagent back until it settles. */
  readonly onEvent: (event: SessionEvent) => void | Promise<void>;
  /** The caller's permissions, which the subagent gets before it does anything. */
  readonly permissions: PermissionChange;
  /** The span of the call that starts it; undefined without telemetry. */
  readonly traceparent: string | undefined;
  /** Asks the caller's client. */
  readonly approve: Approve;
  /** Decides about limits that the subagent has used up. */
  readonly raiseBudget: RaiseBudget;
  /** Asks the caller's client what the subagent's model asks; undefined where nobody answers. */
  readonly answerQuestions: AnswerQuestions | undefined;
}

export interface SubagentServers {
  /** The names of all of them; the other ones of the files are not used. */
  readonly only: readonly string[];
  /** Those that only the caller's session knows, as entries of mcp.json. */
  readonly added: Readonly<Record<string, unknown>>;
}

/** How a prompt to a subagent ended. */
export interface SubagentReply {
  readonly status: "completed" | "aborted" | "error";
  /** The text of its last message. */
  readonly text: string;
  readonly error?: string | undefined;
}

/** Tokens and cost of a subagent, those that it started included. */
export type SubagentUse = Pick<SessionStats, "tokens" | "cost">;

/** The messages of a conversation after an entry. */
export interface SubagentMessages {
  readonly messages: AgentMessage[];
  /** The id of the last of them, for the next `since`. */
  readonly lastEntryId?: string | undefined;
}

/** What the owner of subagents can do with one of them; a nested one is named by its path. */
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
  /** The subagents below it; undefined for a host that knows no commands for them. */
  readonly control?: SubagentControl | undefined;
  /** Sends it a message while it runs. */
  readonly steer?: ((message: string) => Promise<void>) | undefined;
  /** @param isAfterUntrusted whether foreign text may have made the prompt */
  prompt(text: string, isAfterUntrusted: boolean): Promise<SubagentReply>;
  /** Changes its limits, which apply to all its prompts together. */
  setBudget(change: BudgetChange): Promise<void>;
  /** Changes its permissions. Without it, a session whose permissions are limited has no subagents. */
  setPermissions?(change: PermissionChange): Promise<void>;
  /** Adds MCP servers to those of the files. */
  setMcpServers?(servers: Readonly<Record<string, unknown>>): Promise<void>;
  /** Replaces the tools that it calls through the session it works for. */
  setHostTools?(tools: readonly RunnableHostTool[]): Promise<void>;
  /** Replaces the URIs that it reads and writes through the session it works for. */
  setHostUris?(served: readonly ServedUris[]): Promise<void>;
  /** Sets which events of its own subagents it sends. */
  setEventLevel(level: SubagentLevel): Promise<void>;
  /** What it has used in all, as its own statistics say. */
  used?(): Promise<SubagentUse | undefined>;
  /** The lines of its session, for one that is on another machine, or in no file. */
  transcript?(): Promise<readonly object[]>;
  /** Ends it and everything it started. May be called during a prompt. */
  stop(): Promise<void>;
}

/** Starts subagents: as processes of the same host, or in the embedder's own process. */
export type SubagentRunner = (request: SubagentRequest) => Promise<Subagent>;

export function excludedFor({ excludedTools, maySpawn }: SubagentRequest): readonly string[] {
  return maySpawn ? excludedTools : [...excludedTools, "task"];
}
