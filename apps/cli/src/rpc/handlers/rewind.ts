import type { rewindCommands } from "@tau-agent/rpc-protocol/commands";
import type { HostHandlers } from "./contexts.ts";

export const rewindHandlers = {
  list_checkpoints: async ({ session }) => ({ checkpoints: await session.listCheckpoints() }),
  rewind: ({ session }, params) => session.rewind(params),
} satisfies Pick<HostHandlers, keyof typeof rewindCommands>;
