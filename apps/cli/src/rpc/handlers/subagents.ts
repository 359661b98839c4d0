import type { subagentCommands } from "@tau-agent/rpc-protocol/commands";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import type { HostHandlers } from "./contexts.ts";
import { messagesIn, subagentLines } from "./oh-my-pi.ts";

export const subagentHandlers = {
  list_subagents: async ({ session }) => ({ subagents: await session.subagents.list() }),
  get_subagent_messages: async ({ session, connection }, params) => {
    const { subagentId, since, sessionFile, fromByte } = params;
    const isOfBytes = (sessionFile ?? fromByte) !== undefined;
    if (!isOfBytes && connection.dialect.name !== "oh-my-pi-18") {
      return session.subagents.messages(subagentId ?? "", since);
    }
    const read = await subagentLines(session, params);
    if (read === undefined) {
      throw new SessionError("subagent_not_found", { subagentId: subagentId ?? sessionFile ?? "" });
    }
    return { ...read, messages: messagesIn(read.entries) };
  },
  steer_subagent: ({ session }, { subagentId, message }) =>
    session.subagents.steer(subagentId, message),
  abort_subagent: ({ session }, { subagentId }) => session.subagents.abort(subagentId),
  resume_subagent: async ({ session }, { subagentId, message }) => {
    await session.subagents.resume(subagentId, message);
    return { subagentId };
  },
} satisfies Pick<HostHandlers, keyof typeof subagentCommands>;
