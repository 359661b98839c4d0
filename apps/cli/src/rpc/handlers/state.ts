import type { Handlers } from "@tau-agent/rpc-protocol";
import type { stateCommands } from "@tau-agent/rpc-protocol/commands";
import type { Host } from "./host.ts";

export const stateHandlers = {
  get_state: ({ session }) => session.state,
  get_messages: ({ session }) => ({ messages: [...session.messages] }),
  get_session_stats: ({ session }) => session.stats,
  get_commands: async ({ session }) => {
    await session.hooks?.begin();
    return { commands: await session.listCommands() };
  },
  get_last_assistant_text: ({ session }) => ({ text: session.lastAssistantText }),
} satisfies Pick<Handlers<Host>, keyof typeof stateCommands>;
