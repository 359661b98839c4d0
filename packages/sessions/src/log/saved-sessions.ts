import { join, resolve } from "node:path";
import { findHomeDirectory } from "@tau-agent/system";
import { sessionDirectoryFor } from "./file/session-path.ts";
import type { SessionPage } from "./list-session-page.ts";
import type { SessionInfo } from "./list-sessions.ts";

/** Where to look for saved sessions; the same as for `createAgentSession`. */
export interface SavedSessionsOptions {
  /** Only sessions of this project; those of every project by default. */
  readonly cwd?: string | undefined;
  /** `~/.pi/agent` by default. */
  readonly agentDirectory?: string | undefined;
  /**
   * The session folder itself, if sessions were created with one; the other options are then
   * ignored.
   */
  readonly sessionDirectory?: string | undefined;
}

/**
 * The sessions on disk, the latest first, without opening one. Files that are not sessions are
 * skipped.
 */
export async function listSessions(options: SavedSessionsOptions = {}): Promise<SessionInfo[]> {
  const { cwd, sessionDirectory } = options;
  const agentDirectory = options.agentDirectory ?? join(findHomeDirectory(), ".pi", "agent");
  const lists = await import("./list-sessions.ts");
  if (sessionDirectory !== undefined) return lists.sessionsIn(sessionDirectory);
  if (cwd === undefined) return lists.listAllSessions(join(agentDirectory, "sessions"));
  return lists.sessionsIn(sessionDirectoryFor(agentDirectory, resolve(cwd)));
}

/**
 * A part of the sessions on disk, the latest written first, for lists of which one page is shown. Unlike
 * {@link listSessions} it reads only the two ends of the files of that part: a name that was given in the
 * middle of a long conversation may be missing.
 *
 * @param part - `start` is 0, or `next` of the page before
 */
export async function listSessionPage(
  options: SavedSessionsOptions,
  part: { readonly start: number; readonly limit: number },
): Promise<SessionPage> {
  const { cwd, sessionDirectory } = options;
  const agentDirectory = options.agentDirectory ?? join(findHomeDirectory(), ".pi", "agent");
  const [lists, pages] = await Promise.all([
    import("./list-sessions.ts"),
    import("./list-session-page.ts"),
  ]);
  const folders =
    sessionDirectory !== undefined
      ? [sessionDirectory]
      : cwd !== undefined
        ? [sessionDirectoryFor(agentDirectory, resolve(cwd))]
        : await lists.foldersIn(join(agentDirectory, "sessions"));
  return pages.listSessionPage(folders, { ...part, cwd: cwd && resolve(cwd) });
}

/**
 * The file of the session with exactly this id, wherever it was started; undefined if there is none.
 * Reads names first, and headers only of files that are named otherwise.
 */
export async function findSavedSession(
  id: string,
  options: Omit<SavedSessionsOptions, "cwd"> = {},
): Promise<string | undefined> {
  const { sessionDirectory } = options;
  const agentDirectory = options.agentDirectory ?? join(findHomeDirectory(), ".pi", "agent");
  const lists = await import("./list-sessions.ts");
  if (sessionDirectory !== undefined) return lists.sessionIn([sessionDirectory], id);
  return lists.sessionIn(await lists.foldersIn(join(agentDirectory, "sessions")), id);
}

/**
 * Deletes a session file that is not in use. A file that is not a session stays.
 *
 * @throws {SessionError} `session_not_found`, `session_invalid`, `session_locked`
 */
export async function deleteSession(path: string): Promise<void> {
  const { deleteSession: remove } = await import("./file/delete-session.ts");
  return remove(path);
}
