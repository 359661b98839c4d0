import type { Result } from "@tau-agent/rpc-protocol";
import type { ConnectionClosedError } from "../base/errors.ts";
import type { Connection } from "../connection/connection.ts";
import type { EventFilter } from "../events/event-filter.ts";
import type { EventHub } from "../events/event-hub.ts";
import type { HostToolRunner } from "../events/host-tools.ts";
import type { HostUriRunner } from "../events/host-uris.ts";

export interface HostLink {
  readonly hub: EventHub;
  readonly filter: EventFilter;
  /** Runs the tools of the client; undefined before the first connection. */
  readonly tools: HostToolRunner | undefined;
  readonly uris: HostUriRunner | undefined;
  readonly host: Result<"initialize"> | undefined;
  /** Set when there was a connection, there is none now, and none is being made. */
  readonly ended: ConnectionClosedError | undefined;
  /** Whether the client itself ends the connection. */
  readonly isStopping: boolean;
  /** @throws {ConnectionClosedError} if there is none */
  connection(): Connection;
}
