import type { AgentOptions, AgentTool, ToolExecutionMode } from "@tau-agent/agent";
import type { StreamFunction } from "@tau-agent/ai";
import type { McpAccess } from "@tau-agent/mcp";
import type { ModelRegistry, ScopedModel } from "@tau-agent/models";
import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import type {
  EnvironmentFacts,
  NewSession,
  SessionHome,
  SessionLog,
} from "@tau-agent/sessions/log";
import type {
  Diagnostic,
  HostRequests,
  KeyMask,
  SandboxParts,
  SettingsStore,
  ToolEnvironment,
} from "@tau-agent/system";
import type { SessionRewind } from "@tau-agent/worktrees";
import type { QuestionsOptions } from "../approvals/questions.ts";
import type { HostTools } from "../host-tools/host-tools.ts";
import type { SessionJobs } from "../jobs/session-jobs.ts";
import type { SessionPermissions } from "../permissions/session-permissions.ts";
import type { SessionPolicy } from "../policy/session-policy.ts";
import type { CommandInfo } from "../resources/list-commands.ts";
import type { SessionHooks } from "../run/session-hooks.ts";
import type { Survival } from "../run/survival.ts";
import type { SessionBudget } from "../subagents/budgets/session-budget.ts";
import type { SessionSubagents } from "../subagents/tasks/session-subagents.ts";
import type { SubagentFeed } from "../subagents/tasks/subagent-feed.ts";
import type { SessionTelemetry } from "../telemetry/session-telemetry.ts";
import type { ToolSet } from "../tools/tool-set.ts";
import type { UserInput } from "../user-input/input.ts";
import type { WorkspaceStanding } from "./workspace-standing.ts";

export interface SessionInputs {
  readonly log: SessionLog;
  readonly requests: HostRequests;
  readonly permissions: SessionPermissions;
  /** Limits that nothing in the session can widen. */
  readonly policy?: SessionPolicy | undefined;
  readonly saveRules: QuestionsOptions["saveRules"];
  readonly hostTools: HostTools;
  /** Resolves once a client can answer; undefined if questions of an earlier host are not repeated. */
  readonly asksAgain?: Promise<void> | undefined;
  readonly settings: SettingsStore;
  readonly registry: ModelRegistry;
  readonly model: Model | undefined;
  /** Looks for a model when a prompt comes and the session has none. */
  readonly findModel?: (() => Promise<Model | undefined>) | undefined;
  readonly thinkingLevel: ThinkingLevel;
  /** The models that answer if the chosen one fails, in order. */
  readonly fallbacks: readonly Model[];
  readonly scope: readonly ScopedModel[];
  readonly stream: StreamFunction;
  readonly tools: ToolSet;
  readonly budget: SessionBudget;
  readonly feed: SubagentFeed;
  readonly subagents: SessionSubagents;
  readonly toolEnvironment: ToolEnvironment;
  /** The sandbox of commands and file tools, and whether this machine supports it. */
  readonly sandboxed: SandboxParts;
  readonly jobs: SessionJobs;
  readonly rewind: SessionRewind;
  /** The maximum number of replies before a prompt pauses; the setting by default. */
  readonly maxTurns?: number | undefined;
  /** Makes effects survive the host; undefined if only the conversation survives. */
  readonly survival?: Survival | undefined;
  /** Called at the first prompt; the text must not change from turn to turn. */
  readonly systemPrompt: (tools: readonly AgentTool[]) => Promise<string>;
  readonly userInput: UserInput;
  /** The current date and platform, for the model. */
  readonly environment: () => EnvironmentFacts;
  readonly mcp: McpAccess;
  readonly toolsReady: () => Promise<unknown>;
  /** Whether the model can ask a person. */
  readonly offersQuestions: () => boolean;
  readonly openLog: (
    path: string,
  ) => Promise<{ log: SessionLog; diagnostics: readonly Diagnostic[] }>;
  readonly isProjectTrusted: () => boolean;
  readonly enterFolder: (log: SessionLog) => {
    readonly hasMoved: boolean;
    readonly diagnostics: readonly Diagnostic[];
  };
  readonly home: SessionHome;
  /** A folder on this machine for a session whose own folder is remote. */
  readonly folderHere?: string | undefined;
  readonly closeStore?: (() => Promise<void>) | undefined;
  /** Closes the connection to a workspace that was opened for this session. */
  readonly closeWorkspace?: (() => Promise<void>) | undefined;
  /** The state of the workspace, as clients see it. */
  readonly standing: WorkspaceStanding;
  /** Creates the log of another session in the working folder of this one. */
  readonly createLog: (session: Omit<NewSession, "cwd">) => SessionLog;
  readonly diagnostics: readonly Diagnostic[];
  readonly listCommands: () => Promise<CommandInfo[]>;
  /** Watches replies while they stream; loads its code on demand. */
  readonly watchReply?: AgentOptions["watchReply"];
  /** The hooks of extensions; undefined if there are none. */
  readonly hooks?: SessionHooks | undefined;
  /** Takes precedence over the setting. */
  readonly toolExecution?: ToolExecutionMode | undefined;
  /** Masks known keys in tool output. */
  readonly maskKeys?: KeyMask | undefined;
  /** The session's spans; undefined while telemetry is off. */
  readonly telemetry?: SessionTelemetry | undefined;
}
