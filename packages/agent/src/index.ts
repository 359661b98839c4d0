export { Agent } from "./agent.ts";
export {
  type ArgumentsSchema,
  defineTool,
  type JsonSchemaTool,
  type SchemaTool,
} from "./define-tool.ts";
export { errorMessage } from "./error-message.ts";
export { ToolError } from "./errors.ts";
export type { RunOutcome } from "./loop.ts";
export { MessageQueue, type QueueMode } from "./message-queue.ts";
export type { ResolveToolCall } from "./real-calls.ts";
export type { ReplyWatch, StoppedTurn } from "./reply-watch.ts";
export type {
  AgentOptions,
  BeforeToolCallResult,
  InterruptMode,
  ModelRequest,
  ToolHooks,
} from "./run.ts";
export type { AgentTool, ToolCallContext } from "./tool.ts";
export { SKIPPED_TEXT } from "./tool-execution.ts";
export { validateArguments } from "./validate-arguments.ts";
