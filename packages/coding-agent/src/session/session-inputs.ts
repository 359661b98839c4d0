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
  /** What nothing that is said to the session can widen. */
  readonly policy?: SessionPolicy | undefined;
  readonly saveRules: QuestionsOptions["saveRules"];
  readonly hostTools: HostTools;
  /** Fulfilled once a client can be asked; undefined if questions of an earlier host are not asked again. */
  readonly asksAgain?: Promise<void> | undefined;
  readonly settings: SettingsStore;
  readonly registry: ModelRegistry;
  readonly model: Model | undefined;
  /** Looks for a model at a prompt of a session without one. */
  readonly findModel?: (() => Promise<Model | undefined>) | undefined;
  readonly thinkingLevel: ThinkingLevel;
  /** The models that answer when that one fails, in order. */
  readonly fallbacks: readonly Model[];
  readonly scope: readonly ScopedModel[];
  readonly stream: StreamFunction;
  readonly tools: ToolSet;
  readonly budget: SessionBudget;
  readonly feed: SubagentFeed;
  readonly subagents: SessionSubagents;
  readonly toolEnvironment: ToolEnvironment;
  /** What keeps commands and file tools inside, and what was found out about that. */
  readonly sandboxed: SandboxParts;
  readonly jobs: SessionJobs;
  readonly rewind: SessionRewind;
  /** The most replies of a prompt before it pauses; the setting by default. */
  readonly maxTurns?: number | undefined;
  /** Sees effects through the death of the host; undefined where only the conversation survives. */
  readonly survival?: Survival | undefined;
  /** Built at the first prompt; must not change from turn to turn. */
  readonly systemPrompt: (tools: readonly AgentTool[]) => Promise<string>;
  readonly userInput: UserInput;
  /** Date and platform as they are now, for the model. */
  readonly environment: () => EnvironmentFacts;
  readonly mcp: McpAccess;
  readonly toolsReady: () => Promise<unknown>;
  /** Whether a person can be asked by the model. */
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
  /** The folder on this machine of a session whose own is elsewhere. */
  readonly folderHere?: string | undefined;
  readonly closeStore?: (() => Promise<void>) | undefined;
  /** Ends the connection to a workspace that was reached for this session. */
  readonly closeWorkspace?: (() => Promise<void>) | undefined;
  /** What clients see of the place where tools act. */
  readonly standing: WorkspaceStanding;
  /** Makes the log of a further session in the folder that this one works in. */
  readonly createLog: (session: Omit<NewSession, "cwd">) => SessionLog;
  readonly diagnostics: readonly Diagnostic[];
  readonly listCommands: () => Promise<CommandInfo[]>;
  /** Watches replies while they stream; what it loads does not concern the session. */
  readonly watchReply?: AgentOptions["watchReply"];
  /** What extensions do; undefined without any. */
  readonly hooks?: SessionHooks | undefined;
  /** Takes precedence over the setting. */
  readonly toolExecution?: ToolExecutionMode | undefined;
  /** Takes known keys out of what tools say. */
  readonly maskKeys?: KeyMask | undefined;
  /** Its spans; undefined while telemetry is off. */
  readonly telemetry?: SessionTelemetry | undefined;
}
