import { stat } from "node:fs/promises";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { migrateEntries } from "./entries/migrate.ts";
import { readSessionFile } from "./file/read-session-file.ts";
import type { ReadLog } from "./session-home.ts";

/**
 * Reads a session file that may belong to a running host, without changing it.
 *
 * @throws {SessionError} `session_not_found`, `session_invalid`, `session_unreadable`
 */
export async function readLoggedFile(path: string): Promise<ReadLog> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new SessionError("session_not_found", { path });
  if (!found.isFile()) {
    throw new SessionError("session_invalid", { path, reason: "it is not a regular file" });
  }
  const { header, entries } = await readSessionFile(path);
  if (header === undefined) {
    throw new SessionError("session_invalid", { path, reason: "it is empty" });
  }
  return { place: path, path, header, entries: migrateEntries({ header, entries }) };
}
