import type { SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import { errorMessage, SESSION_VERSION, SessionError } from "@tau-agent/rpc-protocol/plain";
import { within } from "@tau-agent/system";
import { mendEntry } from "../entries/mend-entry.ts";
import { migrateEntries } from "../entries/migrate.ts";
import type { SessionKey, StoreEntry, StoreLease } from "./session-store.ts";
import { keyOf, placeOf, referenceOf, type StoreAccess, storeErrorCode } from "./store-access.ts";

export interface LoadedSession {
  readonly header: SessionHeader;
  readonly entries: SessionEntry[];
}

/**
 * Takes the lease of a session and reads it.
 *
 * @returns the session; undefined if there are no entries yet
 * @throws {SessionError} `session_locked`, `session_damaged`, `session_write_failed`
 */
export async function acquireSession(
  access: StoreAccess,
  reference: string,
  check: (header: SessionHeader) => void,
): Promise<{ readonly lease: StoreLease; readonly loaded: LoadedSession | undefined }> {
  const { store, leaseMs, owner } = access;
  const key = keyOf(access, reference);
  const lease = await reaching(access, reference, () => store.acquire(key, leaseMs, owner));
  try {
    const loaded = await readStoredSession(access, reference);
    if (loaded !== undefined) check(loaded.header);
    return { lease, loaded };
  } catch (error) {
    await store.release(lease).catch(() => undefined);
    throw error;
  }
}

/**
 * Reads a session without taking its lease.
 *
 * @throws {SessionError} `session_damaged`, `session_write_failed`
 */
export async function readStoredSession(
  access: StoreAccess,
  reference: string,
): Promise<LoadedSession | undefined> {
  const key = keyOf(access, reference);
  const lines = await reaching(access, reference, () => access.store.load(key));
  return lines === null ? undefined : parseStored(access, key, lines);
}

/** @throws {SessionError} `session_damaged` */
export function parseStored(
  access: StoreAccess,
  key: SessionKey,
  lines: readonly StoreEntry[],
): LoadedSession {
  const path = placeOf(access, referenceOf(key));
  const { files } = access;
  const [first, ...rest] = files === undefined ? lines : lines.map((line) => files.take(key, line));
  const { type, id, timestamp } = first ?? {};
  if (type !== "session" || typeof id !== "string" || typeof timestamp !== "string") {
    throw new SessionError("session_damaged", { path, reason: "its first entry is not a header" });
  }
  const header = { cwd: "", ...first } as unknown as SessionHeader;
  if ((header.version ?? 1) < SESSION_VERSION) {
    const entries = migrateEntries({ header, entries: rest as never });
    return { header: { ...header, version: SESSION_VERSION }, entries };
  }
  const entries = rest.map((line) => mendEntry(line as never) as unknown as SessionEntry);
  return { header, entries };
}

/**
 * Calls a store, waiting at most as long as a session may wait for it.
 *
 * @throws {SessionError} `session_locked`, `session_lost`, `session_write_failed`
 */
export async function reaching<T>(
  access: StoreAccess,
  sessionId: string,
  call: () => Promise<T>,
): Promise<T> {
  const path = placeOf(access, sessionId);
  const { timeoutMs } = access;
  try {
    return await within(timeoutMs, call(), () => {
      throw new Error(`the store did not answer within ${timeoutMs} ms`);
    });
  } catch (cause) {
    if (cause instanceof SessionError) throw cause;
    const code = storeErrorCode(cause);
    if (code === "lease_held") {
      throw new SessionError("session_locked", { path, owner: "of another host" }, { cause });
    }
    if (code === "lease_lost") throw new SessionError("session_lost", { path }, { cause });
    const reason = errorMessage(cause);
    throw new SessionError("session_write_failed", { path, reason }, { cause });
  }
}
