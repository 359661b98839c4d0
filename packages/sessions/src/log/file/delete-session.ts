import { existsSync, unlinkSync } from "node:fs";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { readSessionFile } from "./read-session-file.ts";
import { SessionLease } from "./session-lease.ts";

/**
 * Deletes a session file, but only if it contains a session and no process is writing to it.
 *
 * @throws {SessionError} `session_not_found`, `session_invalid`, `session_locked`
 */
export async function deleteSession(path: string): Promise<void> {
  if (!existsSync(path)) throw new SessionError("session_not_found", { path });
  const { header } = await readSessionFile(path);
  if (header === undefined) {
    throw new SessionError("session_invalid", { path, reason: "it is empty" });
  }
  const lease = new SessionLease(path);
  try {
    unlinkSync(path);
  } catch (error) {
    // Another process has deleted it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new SessionError("session_not_found", { path });
  } finally {
    lease.release();
  }
}
