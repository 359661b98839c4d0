/**
 * Where the tools of a session act, and the frames for acting on another machine.
 *
 * @packageDocumentation
 */

export type {
  WorkspaceCallFrame,
  WorkspaceCancelFrame,
  WorkspaceOutputFrame,
  WorkspaceResultFrame,
} from "../vocabulary/client-workspace.ts";
export {
  ClientWorkspace,
  type ClientWorkspaceOptions,
  ClientWorkspaceServer,
  type FromWorkspaceClient,
  type ToWorkspaceClient,
} from "../workspace/client-workspace.ts";
export type {
  ExecClientFrame,
  ExecServerFrame,
  ExecServerReady,
} from "../workspace/frame-schemas.ts";
export { FramedWorkspace, type FramedWorkspaceOptions } from "../workspace/framed-workspace.ts";
export {
  EXEC_PROTOCOL_VERSION,
  encodeFrame,
  FrameLines,
  MAX_FILE_BYTES,
} from "../workspace/frames.ts";
export type { OpenUpload, WorkspaceUpload } from "../workspace/server-uploads.ts";
export { Slots } from "../workspace/slots.ts";
export type {
  Workspace,
  WorkspaceAccess,
  WorkspaceAdoptOptions,
  WorkspaceCall,
  WorkspaceChange,
  WorkspaceConnection,
  WorkspaceDescription,
  WorkspaceDurable,
  WorkspaceEntry,
  WorkspaceExit,
  WorkspaceFileKind,
  WorkspaceLimit,
  WorkspaceMatch,
  WorkspaceOwner,
  WorkspacePlatform,
  WorkspaceProcess,
  WorkspaceReach,
  WorkspaceReadOptions,
  WorkspaceRemoveOptions,
  WorkspaceSandbox,
  WorkspaceSandboxes,
  WorkspaceSandboxRequest,
  WorkspaceSandboxUse,
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
export { WorkspaceServer, type WorkspaceServerOptions } from "../workspace/workspace-server.ts";
