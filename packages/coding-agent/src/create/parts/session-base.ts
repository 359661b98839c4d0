import type { KeptCredentials, ModelRegistry } from "@tau-agent/models";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import type { HostRequests, ProcessRegistry, SandboxParts, SettingsStore } from "@tau-agent/system";
import type { SessionPolicy } from "../../policy/session-policy.ts";
import type { Disk } from "../../resources/files/disk.ts";
import type { WorkspaceStanding } from "../../session/workspace-standing.ts";
import type { Places } from "../options/places.ts";
import type { SessionSetup } from "../options/session-options.ts";
import type { SessionSharing } from "../options/session-sharing.ts";
import type { WorkingFolder } from "../options/working-folder.ts";

/** The parts of a session that exist before its extensions are loaded. */
export interface SessionBase {
  /** Passed on to subagents in this process. */
  readonly options: SessionSetup & {
    readonly credentials: KeptCredentials;
    readonly sharing: SessionSharing;
  };
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly places: Places;
  readonly workingFolder: WorkingFolder;
  /** Where tools act and the project is; undefined for this machine. */
  readonly workspace: Workspace | undefined;
  /** Whether the workspace can be reached. */
  readonly standing: WorkspaceStanding;
  /** The disk of the project; undefined for this machine's. */
  readonly disk: Disk | undefined;
  readonly settings: SettingsStore;
  readonly registry: ModelRegistry;
  /** The `fetch` that goes through the user's proxy, if there is one. */
  readonly fetch: () => Promise<typeof globalThis.fetch | undefined>;
  readonly processes: ProcessRegistry;
  readonly requests: HostRequests;
  readonly sandboxed: SandboxParts;
  /** Limits that nothing in the session can widen; undefined without a policy. */
  readonly policy: SessionPolicy | undefined;
}
