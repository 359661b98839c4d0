import type { queueCommands } from "@tau-agent/rpc-protocol/commands";
import type { HostHandlers } from "./contexts.ts";

export const queueHandlers = {
  set_steering_mode: ({ session }, { mode }) => session.setQueueModes({ steering: mode }),
  set_follow_up_mode: ({ session }, { mode }) => session.setQueueModes({ followUp: mode }),
  set_queue_mode: ({ session }, { mode }) => session.setQueueModes({ nextTurn: mode }),
  set_interrupt_mode: ({ session }, { mode }) => session.setQueueModes({ interrupt: mode }),
  set_tool_execution: ({ session }, { mode }) => session.setToolExecution(mode),
  cancel_queued: ({ session }, { itemId }) => session.cancelQueued(itemId),
  clear_queue: ({ session }) => session.clearQueue(),
} satisfies Pick<HostHandlers, keyof typeof queueCommands>;
