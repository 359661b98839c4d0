import type { Handlers } from "@tau-agent/rpc-protocol";
import type { compactionCommands } from "@tau-agent/rpc-protocol/commands";
import type { Host } from "./host.ts";

export const compactionHandlers = {
  compact: ({ session }, { customInstructions }) => session.compact(customInstructions),
  // For this session only: what one client wishes must not change the user's settings.
  set_auto_compaction: ({ session }, { enabled }) =>
    session.settings.override("compaction.enabled", enabled),
  set_auto_retry: ({ session }, { enabled }) => {
    session.settings.override("retry.enabled", enabled);
    if (!enabled) session.retry.cancel();
  },
  abort_retry: ({ session }) => session.retry.cancel(),
} satisfies Pick<Handlers<Host>, keyof typeof compactionCommands>;
