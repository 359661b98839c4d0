export { thinkingLevels } from "../vocabulary/constants.ts";
export {
  AssistantContent,
  Attachment,
  AttachmentData,
  AttachmentInput,
  ImageContent,
  ImageInput,
  ResourceReference,
  TextContent,
  ThinkingContent,
  ToolCall,
  UserContent,
} from "../vocabulary/content.ts";
export type { LlmMessage } from "../vocabulary/message.ts";
export {
  AgentMessage,
  AssistantMessage,
  BashExecutionMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
  CustomMessage,
  StopReason,
  ToolResultMessage,
  Usage,
  UsageCost,
  UserMessage,
} from "../vocabulary/message.ts";
export { Model, ModelCost, ThinkingLevel } from "../vocabulary/model.ts";
export type { PromptResult } from "../vocabulary/prompt-result.ts";
