import type { Handlers } from "@tau-agent/rpc-protocol";
import type { requestCommands } from "@tau-agent/rpc-protocol/commands";
import type { Host } from "./host.ts";

export const requestHandlers = {
  get_pending_requests: ({ session }) => ({ requests: [...session.requests.pending] }),
} satisfies Pick<Handlers<Host>, keyof typeof requestCommands>;
