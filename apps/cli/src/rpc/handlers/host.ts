import type { AgentSession } from "@tau-agent/coding-agent";
import type { Connection } from "../connection/connection.ts";

/** What command handlers work on. */
export interface Host {
  readonly session: AgentSession;
  readonly connection: Connection;
}
