import type { ClientSetup } from "../clients/client-options.ts";
import type { Access } from "./access.ts";

/** What an open connection offers its listener. */
export interface OpenConnection {
  /** Sends the rest, then closes. */
  end(): Promise<void>;
}

/** What serves the connections of a port. */
export interface PortParts {
  readonly setup: ClientSetup;
  readonly access: Access;
  readonly pingMs: number;
  readonly open: Set<OpenConnection>;
}
