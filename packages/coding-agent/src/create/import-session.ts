import { join } from "node:path";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { sessionFileName } from "@tau-agent/sessions/log";
import { makeFolder, systemReason, writeFileAtomic } from "@tau-agent/system";
import type { ImportedSession, ImportRequest } from "@tau-agent/trajectories";
import { resolvePlaces, sessionDirectory } from "./options/places.ts";
import { isStoreNamed } from "./options/session-place.ts";
import type { SavedSessionSetup } from "./saved-sessions.ts";
import { decideTrust, loadSettings } from "./trust/project-settings.ts";

/** The result of an import. */
export interface ImportResult {
  /** The session's file. */
  readonly path: string;
  readonly sessionId: string;
  readonly report: ImportedSession["report"];
}

/**
 * Creates a session file in the folder `cwd` from another agent's transcript.
 *
 * @throws {SessionError} `transcript_invalid`, `session_write_failed`, `invalid_option` if sessions are in a store
 */
export async function importSession(
  transcript: Pick<ImportRequest, "path" | "from">,
  setup: SavedSessionSetup,
): Promise<ImportResult> {
  const places = resolvePlaces(setup);
  const settings = await loadSettings(setup, places);
  await decideTrust(setup, { places, given: places, settings });
  const directory = sessionDirectory(setup, places, settings);
  if (directory === undefined || isStoreNamed(setup, settings)) {
    const reason = "transcripts become session files; import without a store";
    throw new SessionError("invalid_option", { option: "store", reason });
  }
  const { importTranscript } = await import("@tau-agent/trajectories");
  const { header, pieces, report } = await importTranscript({ ...transcript, cwd: places.cwd });
  const path = join(directory, sessionFileName(header.timestamp, header.id));
  try {
    await makeFolder(directory);
    await writeFileAtomic(path, pieces);
  } catch (error) {
    if (error instanceof SessionError) throw error;
    const reason = systemReason(error);
    throw new SessionError("session_write_failed", { path, reason }, { cause: error });
  }
  return { path, sessionId: header.id, report };
}
