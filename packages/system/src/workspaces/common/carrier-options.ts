import type { WorkspaceStatus } from "@tau-agent/rpc-protocol";
import type { FramedWorkspace } from "@tau-agent/rpc-protocol/workspace";
import type { ProcessRegistry } from "../../processes/process-registry.ts";

/** The connected clients, one of which serves a session's workspace. */
export interface ServingClients {
  /** Connects to the client that serves the workspace; undefined if none does. */
  connect(place: {
    readonly id: string;
    readonly cwd: string;
    readonly onLost: (reason: string) => void;
  }): Promise<FramedWorkspace | undefined>;
  /** Resolves when another client starts to serve the workspace. */
  served(): Promise<void>;
  /** Called when no session uses the workspace any more. */
  end(): void;
}

/** What the host provides to a workspace that it reaches through a program. */
export interface CarrierOptions {
  /** The host's variables; by default those of this process. The program gets them without keys. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Names of variables that hold provider keys; by default those of the vendors. */
  readonly keyVariables?: readonly string[] | undefined;
  /** Names of variables that `mcp.json` names. */
  readonly namedVariables?: readonly string[] | undefined;
  /** Tracks the program and ends it with the host; by default the workspace has a separate registry. */
  readonly processes?: ProcessRegistry | undefined;
  /** How long calls wait for a lost connection, in ms; default 60 000. */
  readonly reconnectMs?: number | undefined;
  /** How long the program may take to become ready, in ms; default 60 000. */
  readonly connectMs?: number | undefined;
  /** Called when the connection is lost, with the reason, and when it is restored. */
  readonly onStatus?: ((status: WorkspaceStatus, reason?: string) => void) | undefined;
  /** The clients that may serve a workspace. */
  readonly client?: ServingClients | undefined;
  /** Whether the spec has the id of a caller's workspace; see `SpecSource`. */
  readonly isCallers?: boolean | undefined;
  /** Aborts the first connection attempt. */
  readonly signal?: AbortSignal | undefined;
}
