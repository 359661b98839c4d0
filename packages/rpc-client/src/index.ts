export type {
  CommandName,
  ErrorCode,
  ExtensionUiRequest,
  Params,
  Result,
  SessionEvent,
  SessionState,
  SessionStats,
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
export type { RequestOptions } from "./connection.ts";
export {
  ConnectionClosedError,
  EventOverflowError,
  FrameTooLargeError,
  type HostExit,
  RequestTimeoutError,
  RpcError,
} from "./errors.ts";
export type { EventIterator } from "./event-queue.ts";
export type { ExtensionUiHandlers } from "./extension-ui.ts";
export type { HostCommandOptions } from "./host-command.ts";
export type { StopOptions } from "./host-process.ts";
export type { CommandArguments, CommandMethods } from "./methods.ts";
export {
  type CollectEventsOptions,
  type PromptAndWaitOptions,
  RpcClient,
  type RpcClientOptions,
} from "./rpc-client.ts";
