import type { compactionCommands } from "@tau-agent/rpc-protocol/commands";
import type { HostHandlers } from "./contexts.ts";

export const compactionHandlers = {
  compact: ({ session }, { customInstructions }) => session.compact(customInstructions),
  // For this session only: a client's choice must not change the user's settings.
  set_auto_compaction: ({ session }, { enabled }) =>
    session.settings.override("compaction.enabled", enabled),
  set_auto_retry: ({ session }, { enabled }) => {
    session.settings.override("retry.enabled", enabled);
    if (!enabled) session.retry.cancel();
  },
  abort_retry: ({ session }) => session.retry.cancel(),
} satisfies Pick<HostHandlers, keyof typeof compactionCommands>;
