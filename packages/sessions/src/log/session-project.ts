import type { SessionHeader } from "@tau-agent/rpc-protocol";
import { SessionError } from "@tau-agent/rpc-protocol/plain";

/** What sessions belong to. */
export interface SessionProject {
  /** The folder that new sessions work in, and relative paths start from. */
  readonly cwd: string;
  /** The workspace that has the folder; undefined for the host's own machine. */
  readonly workspaceId?: string | undefined;
}

/** Whether a session works in a workspace; undefined is the host's own machine. */
export function isInWorkspace(header: SessionHeader, workspaceId: string | undefined): boolean {
  return header.workspace?.id === workspaceId;
}

/** @throws {SessionError} `workspace_mismatch` for a session of another workspace */
export function refuseOtherWorkspace(
  header: SessionHeader,
  { workspaceId }: SessionProject,
  path: string,
): void {
  if (isInWorkspace(header, workspaceId)) return;
  const [own, asked] = [header.workspace?.id, workspaceId].map((id) => id ?? "local");
  throw new SessionError("workspace_mismatch", { path, own: `${own}`, asked: `${asked}` });
}
