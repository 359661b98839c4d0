/**
 * Where the tools of a session act, and the frames by which they act elsewhere.
 *
 * @packageDocumentation
 */
export type {
  Workspace,
  WorkspaceAccess,
  WorkspaceCall,
  WorkspaceDescription,
  WorkspaceEntry,
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
} from "../workspace/workspace.ts";
export { workspaceLimits } from "../workspace/workspace.ts";
export {
  isWorkspaceError,
  WorkspaceError,
  type WorkspaceErrorCode,
  workspaceErrorTexts,
} from "../workspace/workspace-error.ts";
