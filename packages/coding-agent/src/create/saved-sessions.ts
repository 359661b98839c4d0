import type { SessionHome, SessionInfo } from "@tau-agent/sessions/log";
import { type Places, resolvePlaces } from "./options/places.ts";
import type { SessionSetup } from "./options/session-options.ts";
import { sessionPlace } from "./options/session-place.ts";
import { decideTrust, loadSettings } from "./trust/project-settings.ts";

/** Where to look for sessions; as for `createAgentSession`. */
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
 * The saved sessions, the latest first, without opening any of them: for files, those of all projects; for a store,
 * those of this project. `path` identifies a session: its file, or its id in the store.
 *
 * @throws {SessionError} `invalid_option`, `session_store_failed`
 */
export function listSavedSessions(setup: SavedSessionSetup): Promise<SessionInfo[]> {
  return withSavedSessions(setup, (home) => home.list({ all: true }));
}

/** Opens the storage of sessions for the duration of the work. */
export async function withSavedSessions<Value>(
  setup: SavedSessionSetup,
  work: (home: SessionHome, places: Places) => Promise<Value>,
): Promise<Value> {
  const places = resolvePlaces(setup);
  const settings = await loadSettings(setup, places);
  // A trusted project may store its sessions elsewhere.
  await decideTrust(setup, { places, given: places, settings });
  const { home, closeStore } = await sessionPlace(setup, places, settings);
  try {
    return await work(home, places);
  } finally {
    await closeStore?.();
  }
}
