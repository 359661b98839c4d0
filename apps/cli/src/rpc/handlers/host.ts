import type { AgentSession } from "@tau-agent/coding-agent";
import type { Result } from "@tau-agent/rpc-protocol";
import type { ClientRequests } from "../connection/client-requests.ts";
import type { Connection } from "../connection/connection.ts";

/** What command handlers work on. */
export interface Host {
  readonly session: AgentSession;
  readonly connection: Connection;
  readonly requests: ClientRequests;
  /** Lets the host end its work and closes its sessions. */
  readonly drain: () => Promise<Result<"drain">>;
}
