import type { Dialect, SandboxInfo } from "@tau-agent/rpc-protocol";
import type { LineWriter } from "../../rpc/connection/line-writer.ts";
import type { SessionPool } from "../sessions/session-pool.ts";

/** What a client is made from. */
export interface ClientOptions {
  readonly pool: SessionPool;
  /** What it speaks until it asks for another. */
  readonly dialect: Dialect;
  readonly writer: LineWriter;
  /** The sandbox that a session in the host's folder would have. */
  readonly describeSandbox: () => Promise<SandboxInfo>;
  /** A single command: it is answered, and nothing else is sent. */
  readonly isOneShot?: boolean;
  readonly onInternalError: (error: unknown) => void;
}

/** What all clients of a host share. */
export type ClientSetup = Pick<
  ClientOptions,
  "pool" | "dialect" | "describeSandbox" | "onInternalError"
>;
