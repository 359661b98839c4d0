import { type ExportChoice, readSource, writeSession } from "../session/export-session.ts";
import { type SavedSessionSetup, withSavedSessions } from "./saved-sessions.ts";

/**
 * Exports a saved session as an HTML page or in another format. A running host may have it open: it is only read.
 *
 * @param name - a session file, or the id of a session of this project
 * @returns the absolute path of the file
 * @throws {SessionError} `session_not_found`, `session_invalid`, `session_damaged`, `nothing_to_export`,
 *   `export_failed`, `invalid_option`
 */
export function exportSavedSession(
  name: string,
  setup: SavedSessionSetup,
  choice: ExportChoice = {},
): Promise<string> {
  return withSavedSessions(setup, async (home, { cwd }) => {
    const read = await home.read(name, cwd);
    const session = await readSource(read, (...named) => home.readSubagent(...named));
    return writeSession(session, choice, { folder: cwd });
  });
}
