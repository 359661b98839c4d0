import type { Handlers } from "@tau-agent/rpc-protocol";
import type { rewindCommands } from "@tau-agent/rpc-protocol/commands";
import type { Host } from "./host.ts";

export const rewindHandlers = {
  list_checkpoints: async ({ session }) => ({ checkpoints: await session.listCheckpoints() }),
  rewind: ({ session }, params) => session.rewind(params),
} satisfies Pick<Handlers<Host>, keyof typeof rewindCommands>;
