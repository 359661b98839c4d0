import type { WorkspaceStatus } from "@tau-agent/rpc-protocol";
import type { FramedWorkspace } from "@tau-agent/rpc-protocol/workspace";
import type { ProcessRegistry } from "../../processes/process-registry.ts";

/** The connected clients, of which one serves the workspace of a session. */
export interface ServingClients {
  /** A connection to the one that serves it; undefined where none does. */
  connect(place: {
    readonly id: string;
    readonly cwd: string;
    readonly onLost: (reason: string) => void;
  }): Promise<FramedWorkspace | undefined>;
  /** Resolves when the next client serves it. */
  served(): Promise<void>;
  /** No session acts there any more. */
  end(): void;
}

/** What the host gives to a workspace that it reaches through a program. */
export interface CarrierOptions {
  /** The host's variables; default those of this process. The program gets them without keys. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Names of variables that hold keys of providers; default those of the vendors. */
  readonly keyVariables?: readonly string[] | undefined;
  /** Names of variables that `mcp.json` names. */
  readonly namedVariables?: readonly string[] | undefined;
  /** Knows the program, and ends it with the host; without it the workspace has its own. */
  readonly processes?: ProcessRegistry | undefined;
  /** For how long calls wait for a lost connection; default 60 000. */
  readonly reconnectMs?: number | undefined;
  /** How long the program may take until it is ready; default 60 000. */
  readonly connectMs?: number | undefined;
  /** Called when the connection is lost, with the reason, and when it is there again. */
  readonly onStatus?: ((status: WorkspaceStatus, reason?: string) => void) | undefined;
  /** Those who may serve a workspace of the client. */
  readonly client?: ServingClients | undefined;
  /** Whether the spec has the id of a caller's workspace; see `SpecSource`. */
  readonly isCallers?: boolean | undefined;
  /** Gives up the first connection. */
  readonly signal?: AbortSignal | undefined;
}
