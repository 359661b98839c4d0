import type { McpTransportKind } from "../config/server-entry.ts";
import type { ServerConnection, ServerDemands } from "./connection.ts";

export interface OpenedServer {
  readonly connection: ServerConnection;
  readonly transport: McpTransportKind;
  readonly failure: () => string | undefined;
}

export interface Life {
  readonly demands: ServerDemands;
  /** Aborted if the connection is no longer needed before it is open; everything started for it then ends. */
  readonly signal: AbortSignal;
  readonly onClosed: () => void;
}
