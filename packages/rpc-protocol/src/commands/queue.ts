import * as z from "zod/mini";
import { command } from "./command.ts";
import { InterruptMode, QueueMode, ToolExecutionMode } from "./state.ts";

const mode = () =>
  z.object({
    /** Whether queued messages are delivered all at once or one at a time. */
    mode: QueueMode,
  });

/** How queued messages are delivered. */
export const queueCommands = {
  set_steering_mode: command({
    summary: "Sets whether steering messages are delivered one at a time or all at once.",
    params: mode,
    positional: ["mode"],
  }),
  set_follow_up_mode: command({
    summary: "Sets whether follow-up messages are delivered one at a time or all at once.",
    params: mode,
    positional: ["mode"],
  }),
  set_queue_mode: command({
    summary: "Sets whether messages of `queue_message` are delivered one per turn or all at once.",
    params: mode,
    positional: ["mode"],
  }),
  set_interrupt_mode: command({
    summary: "Sets whether steering skips the remaining tool calls or waits for the turn to end.",
    params: () =>
      z.object({
        /** Whether steering interrupts a batch of tool calls or waits for its end. */
        mode: InterruptMode,
      }),
    positional: ["mode"],
  }),
  set_tool_execution: command({
    summary: "Sets whether the tool calls of a reply run one after the other or all together.",
    params: () =>
      z.object({
        /** `parallel` starts all calls together, but calls that write the same file keep their order. */
        mode: ToolExecutionMode,
      }),
    positional: ["mode"],
  }),
  cancel_queued: command({
    summary: "Takes a queued prompt back and returns its text; its result is `aborted`.",
    params: () =>
      z.object({
        /** The id of the queued item, from the answer to the prompt or from `queue_update`. */
        itemId: z.string(),
      }),
    result: () =>
      z.object({
        /** The text of the message. */
        text: z.string(),
      }),
    positional: ["itemId"],
    awaitsSessionChange: true,
  }),
  clear_queue: command({
    summary: "Empties all queues and returns the texts of the messages in them.",
    result: () =>
      z.object({
        /** Texts of queued steering messages, oldest first. */
        steering: z.array(z.string()),
        /** Texts of queued follow-up messages, oldest first. */
        followUp: z.array(z.string()),
      }),
  }),
};
