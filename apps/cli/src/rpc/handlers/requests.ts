import type { requestCommands } from "@tau-agent/rpc-protocol/commands";
import type { HostHandlers } from "./contexts.ts";

export const requestHandlers = {
  get_pending_requests: ({ session }) => ({ requests: [...session.requests.pending] }),
} satisfies Pick<HostHandlers, keyof typeof requestCommands>;
