import { type Handlers, ProtocolError } from "@tau-agent/rpc-protocol";
import type { hostingCommands } from "@tau-agent/rpc-protocol/commands";
import type { Host } from "./host.ts";

/** A host with one session on stdin has no others, and no other connections. */
export const hostingHandlers = {
  open_session: () => refuse("open_session"),
  close_session: () => refuse("close_session"),
  attach: () => refuse("attach"),
  detach: () => refuse("detach"),
  drain: ({ drain }) => drain(),
} satisfies Pick<Handlers<Host>, keyof typeof hostingCommands>;

function refuse(command: string): never {
  throw new ProtocolError("multi_session_disabled", { command });
}
