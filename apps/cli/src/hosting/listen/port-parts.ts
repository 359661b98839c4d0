import type { ClientSetup } from "../clients/client-options.ts";
import type { Access } from "./access.ts";

export interface OpenConnection {
  /** Sends the remaining data, then closes. */
  end(): Promise<void>;
}

export interface PortParts {
  readonly setup: ClientSetup;
  readonly access: Access;
  readonly pingMs: number;
  readonly open: Set<OpenConnection>;
}
