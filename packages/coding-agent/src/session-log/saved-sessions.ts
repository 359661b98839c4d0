import { join, resolve } from "node:path";
import { findHomeDirectory } from "../base/home-directory.ts";
import { sessionDirectoryFor } from "./file/session-path.ts";
import type { SessionInfo } from "./list-sessions.ts";

/** Where saved sessions are looked for; the same as for `createAgentSession`. */
export interface SavedSessionsOptions {
  /** The project whose sessions are meant; without it, those of every project. */
  readonly cwd?: string | undefined;
  /** Default `~/.pi/agent`. */
  readonly agentDirectory?: string | undefined;
  /** The folder itself, where a session was made with one; the other options do not count then. */
  readonly sessionDirectory?: string | undefined;
}

/** The sessions on disk, the latest first, without opening one. Files that are no sessions are left out. */
export async function listSessions(options: SavedSessionsOptions = {}): Promise<SessionInfo[]> {
  const { cwd, sessionDirectory } = options;
  const agentDirectory = options.agentDirectory ?? join(findHomeDirectory(), ".pi", "agent");
  const lists = await import("./list-sessions.ts");
  if (sessionDirectory !== undefined) return lists.listSessions(sessionDirectory);
  if (cwd === undefined) return lists.listAllSessions(join(agentDirectory, "sessions"));
  return lists.listSessions(sessionDirectoryFor(agentDirectory, resolve(cwd)));
}

/**
 * Deletes a session file that nobody uses. A file that is no session stays.
 *
 * @throws {SessionError} `session_not_found`, `session_invalid`, `session_locked`
 */
export async function deleteSession(path: string): Promise<void> {
  const { deleteSession: remove } = await import("./file/delete-session.ts");
  return remove(path);
}
