// What reaches workspaces on other machines, and checks them: loaded for sessions that have one.

export { connectWorkspace } from "./carrier/connect-workspace.ts";
export { readWorkspaceSpec, workspaceIdOf } from "./common/workspace-spec.ts";
export { runWorkspaceConformance } from "./conformance/run-workspace-conformance.ts";
export { createLocalWorkspace } from "./local/local-workspace.ts";
export { fromSandboxSession } from "./sandbox-session/from-sandbox-session.ts";
