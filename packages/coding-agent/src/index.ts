export {
  type AgentTool,
  defineTool,
  type ToolCallContext,
  ToolError,
} from "@tau-agent/agent";
export type { StreamFunction } from "@tau-agent/ai";
export type { McpAccess, McpServerInfo, McpServerList } from "@tau-agent/mcp";
export type {
  CustomProvider,
  FindOptions,
  FoundServer,
  LoginPage,
  LoginRequest,
  Logins,
  ModelEntry,
  ModelOverride,
  ModelSelection,
  ProviderEntry,
  RefreshedProvider,
  RefreshOptions,
  Retry,
  ServerKind,
} from "@tau-agent/models";
export {
  createCustomProvider,
  findLocalServers,
  listLoginProviders,
  ModelRegistry,
  refreshModels,
} from "@tau-agent/models";
export type {
  AnswerQuestions,
  ApprovalParams,
  ApprovalRequest,
  ApprovalResult,
  Approve,
  BudgetLimits,
  BudgetParams,
  BudgetRequest,
  BudgetResult,
  BudgetSnapshot,
  Checkpoint,
  CompactionResult,
  ContextReport,
  ContextRow,
  ErrorCode,
  ExtensionUiRequest,
  ExtensionUiResponse,
  PermissionMode,
  PermissionRule,
  QuestionParams,
  QuestionRequest,
  QuestionResult,
  RaiseBudget,
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
  PromptResult,
  TextContent,
  ThinkingLevel,
  ToolResultMessage,
  UserMessage,
} from "@tau-agent/rpc-protocol/messages";
export { SessionError } from "@tau-agent/rpc-protocol/plain";
export type {
  SavedSessionsOptions,
  SessionInfo,
  SessionLogView,
  SessionStart,
} from "@tau-agent/sessions/log";
export {
  deleteSession,
  findSavedSession,
  listSessionPage,
  listSessions,
  SessionLog,
  SessionTree,
} from "@tau-agent/sessions/log";
export type {
  Diagnostic,
  Listener,
  OutputOf,
  OutputSchema,
  RequestSink,
  SandboxChange,
  SubscribeOptions,
} from "@tau-agent/system";
export { HostRequests, RequestError, SettingsStore } from "@tau-agent/system";
export type { RewindOptions, RewindRequest } from "@tau-agent/worktrees";
export type { Compaction } from "./compaction/compaction.ts";
export { createAgentSession } from "./create/create-session.ts";
export { exportSavedSession } from "./create/export-saved-session.ts";
export { type ImportResult, importSession } from "./create/import-session.ts";
export { checkSetting } from "./create/options/check-setting.ts";
export type { ExtensionOptions } from "./create/options/extension-options.ts";
export type {
  CreateAgentSessionOptions,
  PromptOptionsOfSession,
} from "./create/options/session-options.ts";
export { SessionSharing } from "./create/options/session-sharing.ts";
export type { SessionChoice } from "./create/options/session-start.ts";
export { describeSandboxOf } from "./create/parts/describe-sandbox-of.ts";
export { sessionPolicy } from "./create/parts/session-policy.ts";
export { listSavedSessions, type SavedSessionSetup } from "./create/saved-sessions.ts";
export {
  addMcpServer,
  type McpFilePlace,
  mcpServerNames,
  removeMcpServer,
} from "./create/trust/mcp-file.ts";
export type { ExtensionApi, ExtensionFactory } from "./extensions/api/api.ts";
export type { CommandContext, ExtensionContext } from "./extensions/api/context.ts";
export type { ExtensionTool } from "./extensions/api/tool.ts";
export type { HostModules } from "./extensions/load/host-imports.ts";
export type {
  HostToolCallContext,
  HostToolDefinition,
  HostTools,
  RunnableHostTool,
} from "./host-tools/host-tools.ts";
export type { HostUriAnswer, HostUris, ServedUris } from "./host-tools/host-uris.ts";
export { readToolResult } from "./host-tools/tool-result.ts";
export {
  type InstallPlace,
  type ListedPackage,
  PackageInstaller,
} from "./package-installs/package-installer.ts";
export { programRunner, type RunProgram } from "./package-installs/run-program.ts";
export { type PermissionChange, permissionProblem } from "./permissions/permission-settings.ts";
export type { PermissionState, SessionPermissions } from "./permissions/session-permissions.ts";
export { readPolicy } from "./policy/read-policy.ts";
export type { CommandInfo, CommandSource } from "./resources/list-commands.ts";
export type { BashCommandOptions, BashCommands } from "./run/bash-commands.ts";
export type { PromptAcceptance, PromptOptions } from "./run/prompt-options.ts";
export { unfinishedPromptId } from "./run/resume-latest.ts";
export type { SessionHooks } from "./run/session-hooks.ts";
export { AgentSession } from "./session/agent-session.ts";
export { type ExportChoice, exportSession, exportSessionFile } from "./session/export-session.ts";
export { firstPieces } from "./session/first-pieces.ts";
export { logInBySession, loginProviders } from "./session/session-logins.ts";
export type { SessionNavigation } from "./session/session-navigation.ts";
export type { SessionBudget } from "./subagents/budgets/session-budget.ts";
export type { BudgetChange } from "./subagents/budgets/session-limits.ts";
export type {
  StartSubagentHost,
  SubagentHost,
  SubagentHostRequest,
} from "./subagents/runners/process-runner.ts";
export type {
  Subagent,
  SubagentControl,
  SubagentMessages,
  SubagentReply,
} from "./subagents/runners/subagent-runner.ts";
export type { TaskOptions } from "./subagents/session-tasks.ts";
export type { SessionTodos } from "./todos/session-todos.ts";
export type { FileChange } from "./tools/preview-change.ts";
export type { ToolSelection } from "./tools/tool-selection.ts";
export { type ChangingToolSource, ToolSet, type ToolSource } from "./tools/tool-set.ts";
export type { PromptInput } from "./user-input/input.ts";
