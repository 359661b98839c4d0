import type { RemoteClient, RemoteSession } from "@tau-agent/rpc-client";
import type { LifecycleData } from "./lifecycle-state.ts";
import type { Turn } from "./turn.ts";

/** A connection to the session in its host. */
export interface Connected {
  readonly client: RemoteClient;
  readonly session: RemoteSession;
  readonly data: LifecycleData;
  /**
   * How the session was found: `live` with all frames since, `behind` if it is running with frames missing,
   * or `reopened` from its file.
   */
  readonly standing: "live" | "behind" | "reopened";
}

/** State shared by the parts of a session; the current turn answers the host's requests. */
export interface SessionSeams {
  turn: Turn | undefined;
  /** Arguments for instructions and skills, which a host only accepts at its start. */
  words: readonly string[];
}
