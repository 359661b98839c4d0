import type { Handlers } from "@tau-agent/rpc-protocol";
import type { promptingCommands } from "@tau-agent/rpc-protocol/commands";
import type { Host } from "./host.ts";

export const promptingHandlers = {
  prompt: async ({ session }, { message, images, attachments, streamingBehavior }, { id }) => {
    const { disposition } = await session.submit(message, {
      images,
      attachments,
      streamingBehavior: streamingBehavior === "follow-up" ? "followUp" : streamingBehavior,
      id,
    });
    return { disposition };
  },
  steer: async ({ session }, { message, ...input }) => {
    const { disposition } = await session.steer(message, input);
    return { disposition };
  },
  follow_up: async ({ session }, { message, ...input }) => {
    const { disposition } = await session.followUp(message, input);
    return { disposition };
  },
  queue_message: async ({ session }, { message, ...input }) => {
    const { disposition } = await session.queueMessage(message, input);
    return { disposition };
  },
  abort_and_prompt: async ({ session }, { message, ...input }, { id }) => {
    const options = { ...input, id };
    const { disposition } = await session.abortAndPrompt(message, options);
    return { disposition };
  },
  abort: async ({ session }) => {
    await session.abort();
  },
  new_session: ({ session }, { parentSession }) => session.newSession(parentSession),
} satisfies Pick<Handlers<Host>, keyof typeof promptingCommands>;
