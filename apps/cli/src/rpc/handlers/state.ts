import type { CommandInfo } from "@tau-agent/coding-agent";
import type { stateCommands } from "@tau-agent/rpc-protocol/commands";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import type { HostHandlers } from "./contexts.ts";

const scopes = { user: "user", project: "project", path: "temporary" } as const;

/** A command with its origin in a nested object. */
function withSource(command: CommandInfo) {
  const { path = "", location = "path" } = command;
  const source = location === "path" ? "cli" : "auto";
  const found = { path, source, scope: scopes[location], origin: "top-level" as const };
  return { ...command, sourceInfo: command.sourceInfo ?? found };
}

export const stateHandlers = {
  get_state: ({ session }) => session.state,
  // Dialects and the encoder treat stored messages like a list.
  get_messages: ({ session }) => ({
    messages: (session.storedMessages as AgentMessage[] | undefined) ?? [...session.messages],
  }),
  get_session_stats: ({ session }) => session.stats,
  get_context: ({ session }) => session.context(),
  get_commands: async ({ session }) => {
    await session.hooks?.begin();
    const commands = await session.listCommands();
    return { commands: commands.map(withSource) };
  },
  get_last_assistant_text: ({ session }) => ({ text: session.lastAssistantText }),
} satisfies Pick<HostHandlers, keyof typeof stateCommands>;
