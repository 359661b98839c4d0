export { AgentEvent, ToolResult } from "./agent-event.ts";
export { CompactionResult, PromptStatus, SessionEvent, SessionOnlyEvent } from "./session-event.ts";
export { AssistantMessageEvent } from "./stream-event.ts";
