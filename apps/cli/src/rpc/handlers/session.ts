import type { Handlers } from "@tau-agent/rpc-protocol";
import type { Host } from "../host.ts";

export const sessionHandlers = {
  set_session_name: ({ session }, { name }) => session.setName(name),
} satisfies Partial<Handlers<Host>>;
