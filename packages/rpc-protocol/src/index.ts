export type { AgentEvent, ToolResult } from "./agent-event.ts";
export type { BudgetLimits, BudgetSnapshot, BudgetViolationReason } from "./budget.ts";
export { type Command, command } from "./command.ts";
export { BashResult } from "./commands/bash.ts";
export {
  type CommandName,
  commands,
  type Handlers,
  isCommandName,
  type Params,
  type Result,
} from "./commands/index.ts";
export { InterruptMode, QueueMode, SessionState, SessionStats } from "./commands/state.ts";
export type { DialectFrame } from "./dialects/dialect.ts";
export {
  type Dialect,
  isProtocolName,
  loadDialect,
  type ProtocolName,
  protocolNames,
} from "./dialects/index.ts";
export { type ErrorCode, errorTable, errorText, ProtocolError } from "./error.ts";
export { ExtensionUiRequest, ExtensionUiResponse } from "./extension-ui.ts";
export {
  type ClientFrame,
  type CommandFrame,
  decodeClientFrame,
  type FrameError,
} from "./frame.ts";
export { FrameDecoder } from "./frame-decoder.ts";
export type { HostFrame, RequestId, ResponseFrame } from "./host-frame.ts";
export { DEFAULT_MAX_LINE_BYTES, type DecodedLine, encodeLine, LineDecoder } from "./jsonl.ts";
export { PartialJson } from "./partial-json.ts";
export {
  KnownSessionEntry,
  type SessionEntry,
  type SessionEntryOf,
  SessionHeader,
  type UnknownSessionEntry,
} from "./session-entry.ts";
export type {
  CompactionResult,
  PromptStatus,
  SessionEvent,
  SessionOnlyEvent,
} from "./session-event.ts";
export { SessionTreeNode } from "./session-tree.ts";
export { SESSION_VERSION } from "./session-version.ts";
export { StreamForm } from "./stream-event.ts";
export type { StreamRuleInfo } from "./stream-rule.ts";
export type {
  VerificationAttemptResult,
  VerificationCommandResult,
  VerificationResult,
} from "./subagent-event.ts";
export type { TodoItem, TodoPhase, TodoStatus } from "./todo.ts";
