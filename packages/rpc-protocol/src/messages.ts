export {
  AssistantContent,
  Attachment,
  ImageContent,
  ImageInput,
  TextContent,
  ThinkingContent,
  ToolCall,
  UserContent,
} from "./content.ts";
export type { LlmMessage } from "./message.ts";
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
} from "./message.ts";
export { Model, ModelCost, ThinkingLevel } from "./model.ts";
export { thinkingLevels } from "./thinking-levels.ts";
