import type { WorkspaceStatus } from "@tau-agent/rpc-protocol";
import type { ProcessRegistry } from "../../processes/process-registry.ts";

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
  /** Gives up the first connection. */
  readonly signal?: AbortSignal | undefined;
}
