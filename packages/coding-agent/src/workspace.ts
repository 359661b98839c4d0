/**
 * Where the tools of a session act: the interface, the ways to reach one, and its errors.
 *
 * @packageDocumentation
 */

export type { WorkspaceStatus } from "@tau-agent/rpc-protocol";
export type {
  Workspace,
  WorkspaceAccess,
  WorkspaceCall,
  WorkspaceDescription,
  WorkspaceEntry,
  WorkspaceErrorCode,
  WorkspaceExit,
  WorkspaceFileKind,
  WorkspaceLimit,
  WorkspaceMatch,
  WorkspacePlatform,
  WorkspaceProcess,
  WorkspaceReach,
  WorkspaceReadOptions,
  WorkspaceRemoveOptions,
  WorkspaceSearchRequest,
  WorkspaceSearchResult,
  WorkspaceSpawnOptions,
  WorkspaceStat,
  WorkspaceStatOptions,
  WorkspaceStream,
  WorkspaceWriteOptions,
} from "@tau-agent/rpc-protocol/workspace";
export {
  isWorkspaceError,
  WorkspaceError,
  workspaceErrorTexts,
  workspaceLimits,
} from "@tau-agent/rpc-protocol/workspace";
export type {
  CarrierOptions as ConnectWorkspaceOptions,
  SandboxSession,
  WorkspaceConformanceReport,
  WorkspaceConformanceResult,
  WorkspaceSpec,
} from "@tau-agent/system/workspaces";
export {
  connectWorkspace,
  fromSandboxSession,
  runWorkspaceConformance,
} from "@tau-agent/system/workspaces";
export { createLocalWorkspace } from "./tools/common/local-place.ts";
