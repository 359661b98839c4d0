import type { Result } from "@tau-agent/rpc-protocol";
import type { ConnectionClosedError } from "../base/errors.ts";
import type { Connection } from "../connection/connection.ts";
import type { EventFilter } from "../events/event-filter.ts";
import type { EventHub } from "../events/event-hub.ts";
import type { SessionChannel } from "./session-channel.ts";

export interface HostLink {
  readonly hub: EventHub;
  readonly filter: EventFilter;
  /** Undefined before the first connection. */
  readonly channel: SessionChannel | undefined;
  readonly host: Result<"initialize"> | undefined;
  /** Set if there was a connection, there is none now, and none is being restored. */
  readonly ended: ConnectionClosedError | undefined;
  /** Whether the client itself ends the connection. */
  readonly isStopping: boolean;
  /** @throws {ConnectionClosedError} if there is none */
  connection(): Connection;
}
