import type { WorkspaceOwner } from "@tau-agent/rpc-protocol/workspace";
import type { ToolEnvironment } from "@tau-agent/system";
import type { DurableCalls } from "../../durability/durable-calls.ts";

/** The places where a session's tools can change something. */
type ActingPlaces = Pick<ToolEnvironment, "workspace" | "workspaceOf" | "outside" | "kept">;

/** What a session needs so that its effects survive its host. */
export interface Durability {
  readonly owner: () => WorkspaceOwner;
  /** Wraps these places so that effects of tools belong to the session's owner. */
  own(places: ActingPlaces): ActingPlaces;
  /**
   * The calls of tools, each with exactly one effect.
   *
   * @throws {SessionError} `durability_unavailable`
   */
  calls(environment: ToolEnvironment): Promise<DurableCalls>;
}
