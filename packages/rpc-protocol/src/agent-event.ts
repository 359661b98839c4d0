import * as z from "zod/mini";
import { UserContent } from "./content.ts";
import { AgentMessage, ToolResultMessage, Usage } from "./message.ts";
import { AssistantMessageEvent } from "./stream-event.ts";

/** What a tool hands back: blocks for the model, `details` for clients. */
export const ToolResult = z.object({
  content: z.array(UserContent),
  details: z.optional(z.unknown()),
  /** The content as data; kept in the message, not sent to the model. */
  structuredContent: z.optional(z.unknown()),
  isError: z.optional(z.boolean()),
  usage: z.optional(Usage),
  /** Ends the run without another model call when every result of the batch asks for it. */
  terminate: z.optional(z.boolean()),
});
export type ToolResult = z.infer<typeof ToolResult>;

const toolExecution = {
  toolCallId: z.string(),
  toolName: z.string(),
};

/** What the agent loop reports. */
export const AgentEvent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("agent_start") }),
  z.object({
    type: z.literal("agent_end"),
    messages: z.array(AgentMessage),
    willRetry: z.optional(z.boolean()),
  }),
  z.object({ type: z.literal("turn_start") }),
  z.object({
    type: z.literal("turn_end"),
    message: AgentMessage,
    toolResults: z.array(ToolResultMessage),
  }),
  z.object({ type: z.literal("message_start"), message: AgentMessage }),
  z.object({
    type: z.literal("message_update"),
    message: AgentMessage,
    assistantMessageEvent: AssistantMessageEvent,
  }),
  z.object({ type: z.literal("message_end"), message: AgentMessage }),
  z.object({ type: z.literal("tool_execution_start"), ...toolExecution, args: z.unknown() }),
  z.object({
    type: z.literal("tool_execution_update"),
    ...toolExecution,
    args: z.unknown(),
    partialResult: ToolResult,
  }),
  z.object({
    type: z.literal("tool_execution_end"),
    ...toolExecution,
    result: ToolResult,
    isError: z.boolean(),
  }),
]);
export type AgentEvent = z.infer<typeof AgentEvent>;
