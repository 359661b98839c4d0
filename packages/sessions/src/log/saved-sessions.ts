import { join, resolve } from "node:path";
import { findHomeDirectory } from "@tau-agent/system";
import { sessionDirectoryFor } from "./file/session-path.ts";
import type { SessionPage } from "./list-session-page.ts";
import type { SessionInfo } from "./list-sessions.ts";

/** Where to look for saved sessions; the same as for `createAgentSession`. */
export interface SavedSessionsOptions {
  /** Only sessions of this project; by default those of all projects. */
  readonly cwd?: string | undefined;
  /** The workspace whose sessions are listed; the host's own machine by default. */
  readonly workspaceId?: string | undefined;
  /** `~/.pi/agent` by default. */
  readonly agentDirectory?: string | undefined;
  /** The session folder itself, if sessions were created with one; the other options are then ignored. */
  readonly sessionDirectory?: string | undefined;
}

/** The sessions on disk, the latest first, without opening one. Files that are not sessions are skipped. */
export async function listSessions(options: SavedSessionsOptions = {}): Promise<SessionInfo[]> {
  const { workspaceId, sessionDirectory = folderOf(options) } = options;
  const lists = await import("./list-sessions.ts");
  const found = await (sessionDirectory === undefined
    ? lists.listAllSessions(rootOf(options))
    : lists.sessionsIn(sessionDirectory));
  return found.filter((session) => session.workspaceId === workspaceId);
}

/**
 * A page of the sessions on disk, the latest written first. Unlike {@link listSessions} it reads only the two ends
 * of each file on that page: a name that was set in the middle of a long conversation may be missing.
 *
 * @param part - `start` is 0, or `next` of the previous page
 */
export async function listSessionPage(
  options: SavedSessionsOptions,
  part: { readonly start: number; readonly limit: number },
): Promise<SessionPage> {
  const { workspaceId, sessionDirectory = folderOf(options) } = options;
  const [lists, pages] = await Promise.all([
    import("./list-sessions.ts"),
    import("./list-session-page.ts"),
  ]);
  const folders =
    sessionDirectory === undefined ? await lists.foldersIn(rootOf(options)) : [sessionDirectory];
  return pages.listSessionPage(folders, { ...part, workspaceId, cwd: cwdOf(options) });
}

/**
 * The file of the session with exactly this id, in whatever folder it was started; undefined if
 * there is none. Checks file names first, and reads headers only of files with other names.
 */
export async function findSavedSession(
  id: string,
  options: Omit<SavedSessionsOptions, "cwd"> = {},
): Promise<string | undefined> {
  const { sessionDirectory } = options;
  const lists = await import("./list-sessions.ts");
  if (sessionDirectory !== undefined) return lists.sessionIn([sessionDirectory], id);
  return lists.sessionIn(await lists.foldersIn(rootOf(options)), id);
}

/** The folder with the sessions of one project; undefined if no project is named. */
function folderOf(options: SavedSessionsOptions): string | undefined {
  const cwd = cwdOf(options);
  if (cwd === undefined) return undefined;
  return sessionDirectoryFor(agentDirectoryOf(options), { cwd, workspaceId: options.workspaceId });
}

/** A path on another machine is not resolved by the rules of this one. */
function cwdOf({ cwd, workspaceId }: SavedSessionsOptions): string | undefined {
  return cwd === undefined || workspaceId !== undefined ? cwd : resolve(cwd);
}

function rootOf(options: SavedSessionsOptions): string {
  return join(agentDirectoryOf(options), "sessions");
}

function agentDirectoryOf({ agentDirectory }: SavedSessionsOptions): string {
  return agentDirectory ?? join(findHomeDirectory(), ".pi", "agent");
}

/**
 * Deletes a session file that is not in use. A file that is not a session is kept.
 *
 * @throws {SessionError} `session_not_found`, `session_invalid`, `session_locked`
 */
export async function deleteSession(path: string): Promise<void> {
  const { deleteSession: remove } = await import("./file/delete-session.ts");
  return remove(path);
}
