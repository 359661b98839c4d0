import type { SessionHome, SessionInfo } from "@tau-agent/sessions/log";
import { type Places, resolvePlaces } from "./options/places.ts";
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
 * The sessions that are not in memory only, the latest first, without opening one: those in files of every
 * project; in a store, those of this project. `path` is what names one: its file, or its id in the store.
 *
 * @throws {SessionError} `invalid_option`, `session_store_failed`
 */
export function listSavedSessions(setup: SavedSessionSetup): Promise<SessionInfo[]> {
  return withSavedSessions(setup, (home) => home.list({ all: true }));
}

/** Opens the place of sessions for as long as the work lasts. */
export async function withSavedSessions<Value>(
  setup: SavedSessionSetup,
  work: (home: SessionHome, places: Places) => Promise<Value>,
): Promise<Value> {
  const places = resolvePlaces(setup);
  const settings = await loadSettings(setup, places);
  // A trusted project may keep its sessions elsewhere.
  await decideTrust(setup, { places, given: places, settings });
  const { home, closeStore } = await sessionPlace(setup, places, settings);
  try {
    return await work(home, places);
  } finally {
    await closeStore?.();
  }
}
