export { BashResult } from "./commands/bash.ts";
export { type Command, command } from "./commands/command.ts";
export { HostedSessionInfo, HostingFrame } from "./commands/hosting.ts";
export {
  type CommandName,
  commands,
  type Handlers,
  type Params,
  type Result,
} from "./commands/index.ts";
export {
  ContextReport,
  type ContextRow,
  InterruptMode,
  QueueMode,
  SessionState,
  SessionStats,
  ToolExecutionMode,
} from "./commands/state.ts";
export type { DialectFrame, RequestDialogs } from "./dialects/dialect.ts";
export {
  type Dialect,
  isProtocolName,
  loadDialect,
  type ProtocolName,
  protocolNames,
} from "./dialects/index.ts";
export type { AgentEvent, ToolResult } from "./vocabulary/agent-event.ts";
export type {
  AnswerElicitation,
  AnswerQuestions,
  ApprovalRequest,
  Approve,
  AskedRequest,
  BudgetRequest,
  ElicitationRequest,
  ElicitationResult,
  GetCredentials,
  GivenCredentials,
  OpenUrl,
  OpenUrlRequest,
  QuestionRequest,
  RaiseBudget,
} from "./vocabulary/asked-request.ts";
export type {
  BudgetLimits,
  BudgetSnapshot,
  BudgetViolationReason,
  OnExceeded,
} from "./vocabulary/budget.ts";
export {
  type WorkspaceCallFrame,
  type WorkspaceCancelFrame,
  WorkspaceOutputFrame,
  WorkspaceResultFrame,
} from "./vocabulary/client-workspace.ts";
export type { HostRequestMethod } from "./vocabulary/constants.ts";
export { SESSION_VERSION } from "./vocabulary/constants.ts";
export {
  CodedError,
  type ErrorCode,
  errorTable,
  errorText,
  ProtocolError,
} from "./vocabulary/error.ts";
export type { ClientEvent, EventOrder } from "./vocabulary/event-order.ts";
export {
  ExtensionUiRequest,
  ExtensionUiResponse,
  type OpenUrlNotice,
} from "./vocabulary/extension-ui.ts";
export type { HostFrame, RequestFrame, RequestId, ResponseFrame } from "./vocabulary/host-frame.ts";
export {
  BudgetParams,
  BudgetResult,
  CredentialParams,
  DialogParams,
  ElicitationParams,
  type HostAnswer,
  HostRequestFrame,
  type HostRequestResolved,
  HostResponse,
  type HostToolCall,
  type HostToolCancel,
  HostToolParams,
  HostToolResult,
  HostToolUpdate,
  type OpenHostRequest,
  OpenUrlParams,
  PendingRequest,
  QuestionParams,
  QuestionResult,
  type WorkRequest,
} from "./vocabulary/host-request.ts";
export {
  type HostUriCancel,
  HostUriParams,
  type HostUriRequest,
  HostUriResult,
} from "./vocabulary/host-uri.ts";
export type { JobInfo, JobOutput, JobStatus } from "./vocabulary/job.ts";
export type { LoginMethod, LoginProvider } from "./vocabulary/login.ts";
export { ManagedPolicy } from "./vocabulary/managed-policy.ts";
export {
  ApprovalParams,
  ApprovalResult,
  CallPart,
  OnTimeout,
  PermissionMode,
  PermissionRule,
  RuleAction,
  RuleSource,
  SourcedRule,
} from "./vocabulary/permission.ts";
export type { Checkpoint, RewindFiles } from "./vocabulary/rewind.ts";
export { SandboxInfo } from "./vocabulary/sandbox.ts";
export {
  type ApprovalEntry,
  type DecidedBy,
  KnownSessionEntry,
  type SessionEntry,
  type SessionEntryOf,
  SessionHeader,
  type UnknownSessionEntry,
} from "./vocabulary/session-entry.ts";
export type {
  CompactionResult,
  OutputStatus,
  PromptStatus,
  QueueItem,
  SessionEvent,
  SessionOnlyEvent,
} from "./vocabulary/session-event.ts";
export { SessionTreeNode } from "./vocabulary/session-tree.ts";
export { StreamForm } from "./vocabulary/stream-event.ts";
export type { StreamRuleInfo } from "./vocabulary/stream-rule.ts";
export { SubagentInfo } from "./vocabulary/subagent.ts";
export type {
  SubagentLevel,
  VerificationAttemptResult,
  VerificationCommandResult,
  VerificationResult,
} from "./vocabulary/subagent-event.ts";
export { errorMessage, remedyOfLimit } from "./vocabulary/system-limit.ts";
export type { TodoItem, TodoPhase, TodoStatus } from "./vocabulary/todo.ts";
export type { WorkspaceChoice, WorkspaceStatus } from "./vocabulary/workspace-state.ts";
export {
  ClientWorkspace,
  CommandWorkspace,
  ShellWorkspace,
  WorkspaceSpec,
  WorkspaceState,
} from "./vocabulary/workspace-state.ts";
export {
  type ClientFrame,
  type CommandFrame,
  decodeClientFrame,
  type FrameError,
  type WorkspaceAnswer,
} from "./wire/frame.ts";
export { FrameDecoder, loadFrames } from "./wire/frame-decoder.ts";
export {
  DEFAULT_MAX_LINE_BYTES,
  type DecodedLine,
  encodeLine,
  escapeLineSeparators,
  LineDecoder,
} from "./wire/jsonl.ts";
export { PartialJson } from "./wire/partial-json.ts";
