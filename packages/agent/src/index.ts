export { Agent, loadLoop } from "./agent.ts";
export type { ToolExecutionMode } from "./loop/call-groups.ts";
export type { RunOutcome } from "./loop/loop.ts";
export { MessageQueue, type QueueMode } from "./loop/message-queue.ts";
export type { ResolveToolCall } from "./loop/real-calls.ts";
export type { ReplyWatch, StoppedTurn } from "./loop/reply-watch.ts";
export {
  type AgentOptions,
  type BeforeToolCallResult,
  decideToolCall,
  type InterruptMode,
  type ModelRequest,
  type ToolHooks,
} from "./loop/run.ts";
export { SKIPPED_TEXT } from "./loop/tool-execution.ts";
export type { ResumedReply } from "./loop/turn.ts";
export { checkSchema, schemaExcess } from "./tools/check-schema.ts";
export {
  defineTool,
  type JsonSchemaTool,
  type SchemaTool,
  withReadOnly,
} from "./tools/define-tool.ts";
export { ToolError } from "./tools/errors.ts";
export { guardSchema } from "./tools/guard-schema.ts";
export { onlyReads } from "./tools/only-reads.ts";
export type { AgentTool, ToolCallContext } from "./tools/tool.ts";
export { argumentsCheck, validateArguments } from "./tools/validate-arguments.ts";
