import * as z from "zod/mini";
import { ToolCall } from "./content.ts";
import { AssistantMessage } from "./message.ts";

const at = {
  /** The index of the block in the content of the message. */
  contentIndex: z.number(),
  /** The reply so far. */
  partial: AssistantMessage,
};

/** One step of a streaming reply. `contentIndex` is the index of the block in `partial.content`. */
export const AssistantMessageEvent = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("start"),
    /** The reply so far. */
    partial: AssistantMessage,
  }),
  z.object({ type: z.literal("text_start"), ...at }),
  z.object({
    type: z.literal("text_delta"),
    /** The new piece of text. */
    delta: z.string(),
    ...at,
  }),
  z.object({
    type: z.literal("text_end"),
    /** The complete text of the block. */
    content: z.string(),
    ...at,
  }),
  z.object({ type: z.literal("thinking_start"), ...at }),
  z.object({
    type: z.literal("thinking_delta"),
    /** The new piece of text. */
    delta: z.string(),
    ...at,
  }),
  z.object({
    type: z.literal("thinking_end"),
    /** The complete text of the block. */
    content: z.string(),
    ...at,
  }),
  z.object({
    type: z.literal("toolcall_start"),
    /** The id of the call. */
    id: z.string(),
    /** The name of the tool. */
    toolName: z.string(),
    ...at,
  }),
  z.object({
    type: z.literal("toolcall_delta"),
    /** The new piece of text. */
    delta: z.string(),
    ...at,
  }),
  z.object({
    type: z.literal("toolcall_end"),
    /** The complete tool call. */
    toolCall: ToolCall,
    ...at,
  }),
  z.object({
    type: z.literal("done"),
    /** Why the reply ended. */
    reason: z.enum(["stop", "length", "toolUse"]),
    /** The complete reply. */
    message: AssistantMessage,
  }),
  z.object({
    type: z.literal("error"),
    /** Why the reply ended. */
    reason: z.enum(["aborted", "error"]),
    /** The reply up to the error. */
    error: AssistantMessage,
  }),
]);
export type AssistantMessageEvent = z.infer<typeof AssistantMessageEvent>;

/**
 * How replies are streamed. `full`: every `message_update` contains `message` and `partial`. `delta`: it
 * contains neither, but `usage`; linear in the length of a reply.
 */
export const StreamForm = z.enum(["full", "delta"]);
export type StreamForm = z.infer<typeof StreamForm>;
