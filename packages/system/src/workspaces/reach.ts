// Code that connects to workspaces on other machines and checks them, loaded only for sessions that have one.

export { connectWorkspace } from "./carrier/connect-workspace.ts";
export type { CarrierOptions } from "./common/carrier-options.ts";
export type { WorkspaceSpec } from "./common/workspace-spec.ts";
export { readWorkspaceSpec, workspaceIdOf } from "./common/workspace-spec.ts";
export type {
  WorkspaceConformanceReport,
  WorkspaceConformanceResult,
} from "./conformance/run-workspace-conformance.ts";
export { runWorkspaceConformance } from "./conformance/run-workspace-conformance.ts";
export { fromSandboxSession } from "./sandbox-session/from-sandbox-session.ts";
export type { SandboxSession } from "./sandbox-session/sandbox-session.ts";
