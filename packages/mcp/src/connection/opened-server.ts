import type { McpTransportKind } from "../config/server-entry.ts";
import type { ServerConnection, ServerDemands } from "./connection.ts";

export interface OpenedServer {
  readonly connection: ServerConnection;
  readonly transport: McpTransportKind;
  readonly failure: () => string | undefined;
}

export interface Life {
  readonly demands: ServerDemands;
  /** Aborted when the connection is not wanted before it is open; what was started for it ends then. */
  readonly signal: AbortSignal;
  readonly onClosed: () => void;
}
