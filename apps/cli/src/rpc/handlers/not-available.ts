import { type CommandName, type Handlers, ProtocolError } from "@tau-agent/rpc-protocol";
import type { Host } from "../host.ts";

const refuse = (command: CommandName) => (): never => {
  throw new ProtocolError("not_available", { command });
};

/** Commands of the protocol that this version answers with a clear refusal. */
export const notAvailableHandlers = {
  get_commands: refuse("get_commands"),
} satisfies Partial<Handlers<Host>>;
