import { existsSync, unlinkSync } from "node:fs";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { readSessionFile } from "./read-session-file.ts";
import { SessionLease } from "./session-lease.ts";

/**
 * Deletes a session file, but only if it is a session and nothing is writing it.
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
    // Another process deleted it in the meantime.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new SessionError("session_not_found", { path });
  } finally {
    lease.release();
  }
}
