export {
  type Agent,
  type AgentTool,
  defineTool,
  type ToolCallContext,
  ToolError,
} from "@tau-agent/agent";
export type { StreamFunction } from "@tau-agent/ai";
export type {
  BudgetLimits,
  BudgetSnapshot,
  CompactionResult,
  ErrorCode,
  ExtensionUiRequest,
  ExtensionUiResponse,
  SessionEntry,
  SessionEvent,
  SessionState,
  SessionStats,
  SessionTreeNode,
  TodoItem,
  TodoPhase,
} from "@tau-agent/rpc-protocol";
export type { ToolResult } from "@tau-agent/rpc-protocol/events";
export type {
  AgentMessage,
  AssistantMessage,
  ImageContent,
  ImageInput,
  Model,
  TextContent,
  ThinkingLevel,
  ToolResultMessage,
  UserMessage,
} from "@tau-agent/rpc-protocol/messages";
export { AgentSession } from "./agent-session.ts";
export type { BashCommandOptions, BashCommands } from "./bash-commands.ts";
export type { Compaction } from "./compaction/compaction.ts";
export {
  type CreateAgentSessionOptions,
  createAgentSession,
  type PromptOptionsOfSession,
} from "./create-agent-session.ts";
export type { Diagnostic } from "./diagnostic.ts";
export { SessionError } from "./errors.ts";
export type { Listener, SubscribeOptions } from "./event-bus.ts";
export { exportSession, exportSessionFile } from "./export-session.ts";
export type { CommandContext, ExtensionContext } from "./extensions/api/context.ts";
export type { ExtensionTool } from "./extensions/api/tool.ts";
export type { ExtensionApi, ExtensionFactory } from "./extensions/api.ts";
export type { HostModules } from "./extensions/host-imports.ts";
export { findHomeDirectory } from "./home-directory.ts";
export type { PromptInput } from "./input.ts";
export type { CommandInfo } from "./list-commands.ts";
export type { ModelRequests } from "./model-requests.ts";
export type { ModelSelection } from "./model-selection.ts";
export { type CustomProvider, createCustomProvider } from "./models/custom-models.ts";
export type { ModelEntry, ModelOverride, ProviderEntry } from "./models/custom-schema.ts";
export {
  type FoundServer,
  type LocalServer,
  type ProbeOptions,
  probeLocalServers,
} from "./models/local-servers.ts";
export { ModelRegistry } from "./models/registry.ts";
export type { ProblemReport } from "./problem-report.ts";
export type { PromptAcceptance, PromptOptions } from "./prompt-options.ts";
export type { PromptResult } from "./prompt-tracker.ts";
export type { Retry } from "./retry.ts";
export type { RunDriver } from "./run-driver.ts";
export {
  deleteSession,
  listSessions,
  type SavedSessionsOptions,
} from "./saved-sessions.ts";
export type { SessionInfo } from "./session/list-sessions.ts";
export type { SessionStart } from "./session/open-session.ts";
export { SessionLog } from "./session/session-log.ts";
export { SessionTree } from "./session/session-tree.ts";
export type { ExtensionOptions } from "./session-extensions.ts";
export type { SessionHooks } from "./session-hooks.ts";
export type { SessionNavigation } from "./session-navigation.ts";
export type { AgentSessionParts } from "./session-parts.ts";
export { SettingsStore } from "./settings/store.ts";
export type { SessionBudget } from "./subagents/budgets/session-budget.ts";
export type {
  StartSubagentHost,
  SubagentHost,
  SubagentHostRequest,
} from "./subagents/process-runner.ts";
export type { TaskOptions } from "./subagents/session-tasks.ts";
export type { Subagent, SubagentReply } from "./subagents/subagent-runner.ts";
export type { SessionTodos } from "./todos/session-todos.ts";
export type { ToolSelection } from "./tool-selection.ts";
export { ToolSet } from "./tool-set.ts";
