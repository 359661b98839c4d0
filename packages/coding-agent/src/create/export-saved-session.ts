import { type ExportChoice, readSource, writeSession } from "../session/export-session.ts";
import { resolvePlaces } from "./options/places.ts";
import type { SessionSetup } from "./options/session-options.ts";
import { sessionPlace } from "./options/session-place.ts";
import { decideTrust, loadSettings } from "./trust/project-settings.ts";

/** Where sessions are looked for; as for `createAgentSession`. */
export type SavedSessionSetup = Pick<
  SessionSetup,
  | "cwd"
  | "baseDirectory"
  | "agentDirectory"
  | "homeDirectory"
  | "temporaryDirectory"
  | "sessionDirectory"
  | "store"
  | "projectKey"
  | "trustProject"
>;

/**
 * Writes a session that is not open here as one HTML page or in another format. It may belong to a
 * running host; it is only read.
 *
 * @param name - a session file, or the id of a session of this project
 * @returns the absolute path of the file
 * @throws {SessionError} `session_not_found`, `session_invalid`, `session_damaged`, `nothing_to_export`,
 *   `export_failed`, `invalid_option`
 */
export async function exportSavedSession(
  name: string,
  setup: SavedSessionSetup,
  choice: ExportChoice = {},
): Promise<string> {
  const places = resolvePlaces(setup);
  const settings = await loadSettings(setup, places);
  // A trusted project may keep its sessions elsewhere.
  await decideTrust(setup, { places, given: places, settings });
  const { home, closeStore } = await sessionPlace(setup, places, settings);
  try {
    const read = await home.read(name, places.cwd);
    const session = await readSource(read, (...named) => home.readSubagent(...named));
    return await writeSession(session, choice, { folder: places.cwd });
  } finally {
    await closeStore?.();
  }
}
