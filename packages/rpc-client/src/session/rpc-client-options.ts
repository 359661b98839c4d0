import type { StreamForm } from "@tau-agent/rpc-protocol";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import type { Deciders } from "../events/decisions.ts";
import type { ExtensionUiHandlers } from "../events/extension-ui.ts";
import type { HostCommandOptions } from "../host/host-command.ts";

/** The time limit for commands that are answered at once. */
export const DEFAULT_REQUEST_TIMEOUT_MS = 60_000;

/** How a client starts its host and talks to it. */
export interface RpcClientOptions extends HostCommandOptions, Deciders {
  readonly cwd?: string;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * The form of replies on the wire. The size of `delta` (default) is linear in their length; listeners see
   * the same events either way.
   */
  readonly stream?: StreamForm;
  /**
   * How long the host may hold back deltas to send them as one, in ms: 0 to 100, 25 by default. With 0, each
   * is sent immediately.
   */
  readonly mergeMs?: number;
  /**
   * The time limit for commands that are answered at once: all but those that wait for a model, a shell, the
   * end of a run, or a user whom an extension asks. 60 s by default, 0 for none.
   */
  readonly requestTimeoutMs?: number;
  /** The longest line accepted from the host; 64 MiB by default. */
  readonly maxFrameBytes?: number;
  /** Called with the host's stderr as it arrives. */
  readonly onStderr?: (text: string) => void;
  /** Handles the UI requests of extensions; a dialog without a handler is cancelled. */
  readonly ui?: ExtensionUiHandlers;
  /** A workspace that this client serves: the tools of sessions opened with `{client: true, cwd}` act there. */
  readonly workspace?: Workspace;
  /** Whether the files of sessions are recorded, so that prompts can be reverted; by default, the settings decide. */
  readonly rewind?: boolean;
  /** Sent to the host. */
  readonly clientInfo?: { readonly name: string; readonly version?: string };
}
