export { AgentEvent, ToolResult } from "../vocabulary/agent-event.ts";
export {
  CompactionResult,
  OutputStatus,
  PromptStatus,
  QueueItem,
  SessionEvent,
  SessionOnlyEvent,
} from "../vocabulary/session-event.ts";
export { AssistantMessageEvent } from "../vocabulary/stream-event.ts";
