import type { subagentCommands } from "@tau-agent/rpc-protocol/commands";
import type { HostHandlers } from "./contexts.ts";

export const subagentHandlers = {
  list_subagents: async ({ session }) => ({ subagents: await session.subagents.list() }),
  get_subagent_messages: ({ session }, { subagentId, since }) =>
    session.subagents.messages(subagentId, since),
  steer_subagent: ({ session }, { subagentId, message }) =>
    session.subagents.steer(subagentId, message),
  abort_subagent: ({ session }, { subagentId }) => session.subagents.abort(subagentId),
  resume_subagent: async ({ session }, { subagentId, message }) => {
    await session.subagents.resume(subagentId, message);
    return { subagentId };
  },
} satisfies Pick<HostHandlers, keyof typeof subagentCommands>;
