import type { OutputSchema, PromptAcceptance } from "@tau-agent/coding-agent";
import type { Result } from "@tau-agent/rpc-protocol";
import type { promptingCommands } from "@tau-agent/rpc-protocol/commands";
import type { HostHandlers } from "./contexts.ts";

export const promptingHandlers = {
  prompt: ({ session }, { message, streamingBehavior, outputSchema, ...input }, { id }) =>
    answered(
      session.submit(message, {
        ...input,
        // Passed on unchecked: the session reports what is wrong with it.
        outputSchema: (outputSchema ?? undefined) as OutputSchema | undefined,
        streamingBehavior: streamingBehavior === "follow-up" ? "followUp" : streamingBehavior,
        id,
      }),
    ),
  steer: ({ session }, { message, ...input }) => answered(session.steer(message, input)),
  follow_up: ({ session }, { message, ...input }) => answered(session.followUp(message, input)),
  queue_message: ({ session }, { message, ...input }) =>
    answered(session.queueMessage(message, input)),
  abort_and_prompt: ({ session }, { message, ...input }, { id }) =>
    answered(session.abortAndPrompt(message, { ...input, id })),
  abort: async ({ session }) => {
    await session.abort();
  },
  new_session: ({ session }, { parentSession }) => session.newSession(parentSession),
} satisfies Pick<HostHandlers, keyof typeof promptingCommands>;

/** What the client learns about an accepted prompt; its result follows as an event. */
async function answered(acceptance: Promise<PromptAcceptance>): Promise<Result<"prompt">> {
  const { disposition, promptId, itemId } = await acceptance;
  return { disposition, promptId, ...(itemId === undefined ? {} : { itemId }) };
}
