import * as z from "zod/mini";
import { ToolCall } from "./content.ts";
import { AssistantMessage } from "./message.ts";

const at = { contentIndex: z.number(), partial: AssistantMessage };

/** One step of a reply while it streams. `contentIndex` names the block in `partial.content`. */
export const AssistantMessageEvent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("start"), partial: AssistantMessage }),
  z.object({ type: z.literal("text_start"), ...at }),
  z.object({ type: z.literal("text_delta"), delta: z.string(), ...at }),
  z.object({ type: z.literal("text_end"), content: z.string(), ...at }),
  z.object({ type: z.literal("thinking_start"), ...at }),
  z.object({ type: z.literal("thinking_delta"), delta: z.string(), ...at }),
  z.object({ type: z.literal("thinking_end"), content: z.string(), ...at }),
  z.object({ type: z.literal("toolcall_start"), id: z.string(), toolName: z.string(), ...at }),
  z.object({ type: z.literal("toolcall_delta"), delta: z.string(), ...at }),
  z.object({ type: z.literal("toolcall_end"), toolCall: ToolCall, ...at }),
  z.object({
    type: z.literal("done"),
    reason: z.enum(["stop", "length", "toolUse"]),
    message: AssistantMessage,
  }),
  z.object({
    type: z.literal("error"),
    reason: z.enum(["aborted", "error"]),
    error: AssistantMessage,
  }),
]);
export type AssistantMessageEvent = z.infer<typeof AssistantMessageEvent>;
