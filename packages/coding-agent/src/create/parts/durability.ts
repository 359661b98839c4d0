import type { WorkspaceOwner } from "@tau-agent/rpc-protocol/workspace";
import type { ToolEnvironment } from "@tau-agent/system";
import type { DurableCalls } from "../../durability/durable-calls.ts";

/** The places of a session's tools, as far as they change something. */
type ActingPlaces = Pick<ToolEnvironment, "workspace" | "workspaceOf" | "outside" | "kept">;

/** What a session needs so that its effects survive its host. */
export interface Durability {
  readonly owner: () => WorkspaceOwner;
  /** Makes what tools do in these places something of the session's owner. */
  own(places: ActingPlaces): ActingPlaces;
  /**
   * Sees calls to one effect each.
   *
   * @throws {SessionError} `durability_unavailable`
   */
  calls(environment: ToolEnvironment): Promise<DurableCalls>;
}
