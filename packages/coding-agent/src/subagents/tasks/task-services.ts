import type { ScopedModel } from "@tau-agent/models";
import type {
  AnswerQuestions,
  ApprovalRequest,
  ApprovalResult,
  SessionEvent,
} from "@tau-agent/rpc-protocol";
import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import type { SessionPart } from "@tau-agent/sessions/log";
import type { SettingsStore, ToolEnvironment } from "@tau-agent/system";
import type { HostTools, RunnableHostTool } from "../../host-tools/host-tools.ts";
import type { OfferedTools } from "../../jobs/session-jobs.ts";
import type { SessionPermissions } from "../../permissions/session-permissions.ts";
import type { Disk } from "../../resources/files/disk.ts";
import type { AgentDefinition } from "../agents/agent-definition.ts";
import type { SessionBudget } from "../budgets/session-budget.ts";
import type { SubagentRunner, SubagentServers } from "../runners/subagent-runner.ts";
import type { SessionSubagents } from "./session-subagents.ts";
import type { SubagentFeed } from "./subagent-feed.ts";

interface TaskingSession {
  /** The session's file; undefined in memory. */
  readonly sessionFile: string | undefined;
  /** Starts a subagent's log in the session's store; undefined without a store. */
  openPart(toolCallId: string, id: string): Promise<SessionPart> | undefined;
  /** Makes the tools for background subagents available to the model. */
  offerTools(): OfferedTools;
  readonly model: Model | undefined;
  /**
   * The fallbacks that the session was given in addition to those of its settings; subagents read settings themselves.
   */
  readonly fallbackModels: readonly string[] | undefined;
  readonly thinkingLevel: ThinkingLevel;
  readonly isProjectTrusted: boolean;
  /** The model that a pattern names, preferably from the session's provider; undefined if there is none. */
  findModel(pattern: string): Promise<ScopedModel | undefined>;
  report(event: SessionEvent): void | Promise<void>;
  readonly permissions: SessionPermissions;
  /** Whether foreign text came after the last message from a person. */
  isAfterUntrusted(): boolean;
  readonly hostTools: Pick<HostTools, "onChange" | "uris">;
  mcpServers(names: readonly string[]): SubagentServers;
  /** Asks this session's client on behalf of a subagent. */
  approve(agentId: string, request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalResult>;
  /** Passes a subagent's questions to this session's client; undefined if nobody can answer. */
  answerQuestions(agentId: string, caller: AbortSignal): AnswerQuestions | undefined;
}

export interface TaskServices {
  readonly environment: ToolEnvironment;
  readonly settings: SettingsStore;
  readonly agentDirectory: string;
  /** The disk of the project; undefined for this machine's. */
  readonly disk: Disk | undefined;
  /** The tool's description for the model. */
  readonly description: { readonly text: string };
  readonly budget: SessionBudget;
  readonly runner: SubagentRunner;
  readonly feed: SubagentFeed;
  /** Access to the session's subagents. */
  readonly subagents: SessionSubagents;
  /** The session's nesting depth: 0 for a person's. */
  readonly depth: number;
  readonly excludedTools: (agent: AgentDefinition) => readonly string[];
  /** The agents that the session may start; all if absent. */
  readonly allowedAgents: readonly string[] | undefined;
  readonly hostTools: (id: string, agent: AgentDefinition) => readonly RunnableHostTool[];
  readonly session: () => TaskingSession;
}

export function maySpawnAt({ settings }: Pick<TaskServices, "settings">, depth: number): boolean {
  return depth < settings.get("task.maxRecursionDepth");
}
