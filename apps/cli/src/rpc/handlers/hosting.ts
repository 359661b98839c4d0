import type { hostingCommands } from "@tau-agent/rpc-protocol/commands";
import type { HostHandlers } from "./contexts.ts";

export const hostingHandlers = {
  open_session: ({ client }, params, { afterAnswer }) => client.openSession(params, afterAnswer),
  close_session: ({ client, attachment }) => client.closeSession(attachment),
  attach: ({ attachment }, params, { afterAnswer }) => attachment.attach(params, afterAnswer),
  detach: ({ attachment }, params) => attachment.detach(params),
  drain: ({ host }) => host.drain(),
} satisfies Pick<HostHandlers, keyof typeof hostingCommands>;
