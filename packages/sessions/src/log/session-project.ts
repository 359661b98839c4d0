import type { SessionHeader } from "@tau-agent/rpc-protocol";
import { SessionError } from "@tau-agent/rpc-protocol/plain";

/** The project to which sessions belong. */
export interface SessionProject {
  /** The working folder of new sessions, against which relative paths are resolved. */
  readonly cwd: string;
  /** The workspace of the folder; undefined for the host's own machine. */
  readonly workspaceId?: string | undefined;
}

/** Whether a session belongs to a workspace; undefined is the host's own machine. */
export function isInWorkspace(header: SessionHeader, workspaceId: string | undefined): boolean {
  return header.workspace?.id === workspaceId;
}

/** @throws {SessionError} `workspace_mismatch` if the session belongs to another workspace */
export function refuseOtherWorkspace(
  header: SessionHeader,
  { workspaceId }: SessionProject,
  path: string,
): void {
  if (isInWorkspace(header, workspaceId)) return;
  const [own, asked] = [header.workspace?.id, workspaceId].map((id) => id ?? "local");
  throw new SessionError("workspace_mismatch", { path, own: `${own}`, asked: `${asked}` });
}
