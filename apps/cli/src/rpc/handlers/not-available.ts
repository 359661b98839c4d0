import { type CommandName, type Handlers, ProtocolError } from "@tau-agent/rpc-protocol";
import type { Host } from "../host.ts";

const refuse = (command: CommandName) => (): never => {
  throw new ProtocolError("not_available", { command });
};

/** Commands of the protocol that this version answers with a clear refusal. */
export const notAvailableHandlers = {
  compact: refuse("compact"),
  set_auto_compaction: refuse("set_auto_compaction"),
  set_auto_retry: refuse("set_auto_retry"),
  abort_retry: refuse("abort_retry"),
  switch_session: refuse("switch_session"),
  fork: refuse("fork"),
  get_fork_messages: refuse("get_fork_messages"),
  export_html: refuse("export_html"),
  get_commands: refuse("get_commands"),
} satisfies Partial<Handlers<Host>>;
