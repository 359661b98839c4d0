import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { CommandInfo } from "@tau-agent/coding-agent";

/** The commands that a prompt may begin with, in the client's form: without the slash. */
export function commandsUpdate(commands: readonly CommandInfo[]): SessionUpdate {
  return {
    sessionUpdate: "available_commands_update",
    availableCommands: commands.map(({ name, description, source }) => ({
      name: name.replace(/^\//, ""),
      description: description || `A ${source} of this session`,
      input: { hint: "arguments" },
    })),
  };
}
