export type {
  AnswerElicitation,
  AnswerQuestions,
  ApprovalRequest,
  Approve,
  BudgetRequest,
  ClientEvent,
  CommandName,
  ElicitationRequest,
  ElicitationResult,
  ErrorCode,
  ExtensionUiRequest,
  OpenUrl,
  OpenUrlRequest,
  Params,
  QuestionParams,
  QuestionRequest,
  QuestionResult,
  RaiseBudget,
  Result,
  SessionEvent,
  SessionState,
  SessionStats,
  SubagentInfo,
} from "@tau-agent/rpc-protocol";
export type {
  AgentMessage,
  AssistantMessage,
  ImageContent,
  ImageInput,
  Model,
  PromptResult,
  ThinkingLevel,
  ToolResultMessage,
  UserMessage,
} from "@tau-agent/rpc-protocol/messages";
export {
  ConnectionClosedError,
  type ConnectionCode,
  EventOverflowError,
  FrameTooLargeError,
  type HostExit,
  RequestTimeoutError,
  RpcError,
} from "./base/errors.ts";
export type { RequestOptions } from "./connection/connection.ts";
export type { DeltaEvent } from "./events/delta-event.ts";
export type { EventIterator } from "./events/event-queue.ts";
export type { ExtensionUiHandlers } from "./events/extension-ui.ts";
export { type DefinedTool, defineTool, type HostToolContext } from "./events/host-tools.ts";
export type { UriContent, UriScheme } from "./events/host-uris.ts";
export type { CommandMethods } from "./generated/command-methods.ts";
export { type HostCommandOptions, hostCommand, type SessionChoice } from "./host/host-command.ts";
export { HostProcess, type HostProcessOptions, type StopOptions } from "./host/host-process.ts";
export { RpcClient } from "./rpc-client.ts";
export type { ConnectOptions, RemoteOptions } from "./session/connect-options.ts";
export type { AttachOptions, RemoteClient } from "./session/remote-client.ts";
export type { RemoteEvent, RemoteSession, SessionPosition } from "./session/remote-session.ts";
export type { RpcClientOptions } from "./session/rpc-client-options.ts";
export type {
  CollectEventsOptions,
  OutputSchema,
  PromptAndWaitOptions,
} from "./session/session-client.ts";
export type { ReconnectedEvent } from "./session/session-link.ts";
