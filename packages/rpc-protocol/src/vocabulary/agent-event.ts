import * as z from "zod/mini";
import { UserContent } from "./content.ts";
import { AgentMessage, ToolResultMessage, Usage } from "./message.ts";
import { AssistantMessageEvent } from "./stream-event.ts";

/** The result of a tool: blocks for the model, `details` for clients. */
export const ToolResult = z.object({
  /** The content the model sees. */
  content: z.array(UserContent),
  /** Data for clients; not sent to the model. */
  details: z.optional(z.unknown()),
  /** The content as structured data; not sent to the model. */
  structuredContent: z.optional(z.unknown()),
  /** Whether the tool failed. */
  isError: z.optional(z.boolean()),
  /** Tokens and cost of model calls the tool made itself. */
  usage: z.optional(Usage),
  /** Ends the run without another request to the model, if every result of the batch requests it. */
  terminate: z.optional(z.boolean()),
});
export type ToolResult = z.infer<typeof ToolResult>;

const toolExecution = {
  /** The id of the tool call. */
  toolCallId: z.string(),
  /** The name of the tool. */
  toolName: z.string(),
};

/** An event of the agent loop. */
export const AgentEvent = z.discriminatedUnion("type", [
  /** A run begins. */
  z.object({ type: z.literal("agent_start") }),
  /** A run has ended; `messages` holds everything it added to the conversation. */
  z.object({
    type: z.literal("agent_end"),
    /** Everything the run added to the conversation. */
    messages: z.array(AgentMessage),
    /** Whether the failed request will be retried; sent after `initialize`. */
    willRetry: z.optional(z.boolean()),
  }),
  /** A turn begins: one reply of the model and the tool calls it makes. */
  z.object({ type: z.literal("turn_start") }),
  /** A turn has ended, with its reply and tool results. */
  z.object({
    type: z.literal("turn_end"),
    /** The reply. */
    message: AgentMessage,
    /** The results of its tool calls, in order. */
    toolResults: z.array(ToolResultMessage),
  }),
  /** A message of the user, the model or a tool begins. */
  z.object({
    type: z.literal("message_start"),
    /** The message. */
    message: AgentMessage,
  }),
  /** One step of a streaming reply. */
  z.object({
    type: z.literal("message_update"),
    /** The message. */
    message: AgentMessage,
    /** What changed in the reply. */
    assistantMessageEvent: AssistantMessageEvent,
  }),
  /** A message is complete and stored. */
  z.object({
    type: z.literal("message_end"),
    /** The message. */
    message: AgentMessage,
  }),
  /** A tool starts. */
  z.object({
    type: z.literal("tool_execution_start"),
    ...toolExecution,
    /** The arguments of the call. */
    args: z.unknown(),
  }),
  /** The complete output of the tool so far. */
  z.object({
    type: z.literal("tool_execution_update"),
    ...toolExecution,
    /** The arguments of the call. */
    args: z.unknown(),
    /** The complete output of the tool so far. */
    partialResult: ToolResult,
  }),
  /** A tool has finished. */
  z.object({
    type: z.literal("tool_execution_end"),
    ...toolExecution,
    /** The result of the tool. */
    result: ToolResult,
    /** Whether the tool failed. */
    isError: z.boolean(),
  }),
]);
export type AgentEvent = z.infer<typeof AgentEvent>;
