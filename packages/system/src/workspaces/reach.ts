// What reaches workspaces on other machines, and checks them: loaded for sessions that have one.

export { connectWorkspace } from "./carrier/connect-workspace.ts";
export { readWorkspaceSpec, workspaceIdOf } from "./common/workspace-spec.ts";
export { createLocalWorkspace } from "./local/local-workspace.ts";
