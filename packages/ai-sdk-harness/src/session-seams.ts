import type { RemoteClient, RemoteSession } from "@tau-agent/rpc-client";
import type { LifecycleData } from "./lifecycle-state.ts";
import type { Turn } from "./turn.ts";

/** A connection to the session in its host. */
export interface Connected {
  readonly client: RemoteClient;
  readonly session: RemoteSession;
  readonly data: LifecycleData;
  /**
   * How the session was found: `live` with all frames since, `behind` at work with frames missing, or
   * `reopened` from its file.
   */
  readonly standing: "live" | "behind" | "reopened";
}

/** What the parts of a session share: the turn in flight answers what the host asks. */
export interface SessionSeams {
  turn: Turn | undefined;
  /** Instructions and skills are a host's: they are there from its start. */
  words: readonly string[];
}
