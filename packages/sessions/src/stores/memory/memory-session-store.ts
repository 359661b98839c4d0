import {
  type LeaseToken,
  type SessionKey,
  type SessionStore,
  SessionStoreError,
  type StoredBlob,
  type StoredSession,
  type StoreEntry,
  type StoreLease,
} from "../../log/store/session-store.ts";
import { blobId } from "../common/blob-id.ts";
import { entryLines, parseEntry, unknownLines } from "../common/entry-lines.ts";
import { checkName, checkTtl, keyText } from "../common/keys.ts";
import { checkToken, isLiving, type LeaseRecord } from "../common/lease-record.ts";

interface MemoryLog {
  readonly key: SessionKey;
  readonly lines: string[];
  readonly ids: Set<string>;
  readonly blobs: Map<string, Uint8Array>;
  modifiedAt: number;
}

/** A store in the memory of this process, for tests and for conversations that need not be kept. */
export class MemorySessionStore implements SessionStore {
  readonly #logs = new Map<string, MemoryLog>();
  /** By the monotonic clock, so that setting the system clock neither ends nor extends a lease. */
  readonly #leases = new Map<string, LeaseRecord>();

  async acquire(key: SessionKey, ttlMs: number, owner?: string): Promise<StoreLease> {
    const text = keyText(key);
    checkTtl(ttlMs);
    const now = performance.now();
    const held = this.#leases.get(text);
    if (isLiving(held, now)) throw new SessionStoreError("lease_held");
    const token = (held?.token ?? 0) + 1;
    this.#leases.set(text, { token, expiresAt: now + ttlMs, isReleased: false, owner });
    return { key, token, owner, expiresAt: Date.now() + ttlMs };
  }

  async renew(lease: StoreLease, ttlMs: number): Promise<StoreLease> {
    const text = keyText(lease.key);
    checkTtl(ttlMs);
    const record = checkToken(this.#leases.get(text), lease);
    this.#leases.set(text, { ...record, expiresAt: performance.now() + ttlMs });
    return { ...lease, expiresAt: Date.now() + ttlMs };
  }

  async release(lease: StoreLease): Promise<void> {
    const text = keyText(lease.key);
    const record = this.#leases.get(text);
    if (record?.token === lease.token) this.#leases.set(text, { ...record, isReleased: true });
  }

  async append(key: SessionKey, entries: readonly object[], lease: LeaseToken): Promise<void> {
    const text = keyText(key);
    const lines = entryLines(entries);
    checkToken(this.#leases.get(text), lease);
    if (lines.length === 0) return;
    const log = this.#log(key, text);
    for (const line of unknownLines(lines, log.ids)) {
      if (line.id !== undefined) log.ids.add(line.id);
      log.lines.push(line.text);
    }
    log.modifiedAt = Date.now();
  }

  async load(key: SessionKey): Promise<StoreEntry[] | null> {
    const log = this.#logs.get(keyText(key));
    return log === undefined || log.lines.length === 0 ? null : log.lines.map(parseEntry);
  }

  async list(projectKey: string): Promise<StoredSession[]> {
    checkName("projectKey", projectKey);
    return [...this.#logs.values()]
      .filter(({ key, lines }) => {
        return key.projectKey === projectKey && key.subpath === undefined && lines.length > 0;
      })
      .map(({ key: { sessionId }, modifiedAt }) => ({ projectKey, sessionId, modifiedAt }));
  }

  async delete(key: SessionKey, lease?: LeaseToken): Promise<void> {
    const text = keyText(key);
    const held = this.#leases.get(text);
    if (isLiving(held, performance.now()) && held?.token !== lease?.token) {
      throw new SessionStoreError("lease_held");
    }
    for (const other of [...this.#leases.keys(), ...this.#logs.keys()]) {
      if (!isWithin(other, text, key)) continue;
      this.#logs.delete(other);
      const record = this.#leases.get(other);
      // A writer that still holds a lease must not bring the session back.
      if (record !== undefined) this.#leases.set(other, { ...record, isReleased: true });
    }
  }

  async putBlob(key: SessionKey, bytes: Uint8Array): Promise<StoredBlob> {
    const id = blobId(bytes);
    this.#log(key, keyText(key)).blobs.set(id, Uint8Array.from(bytes));
    return { id, size: bytes.byteLength };
  }

  async getBlob(key: SessionKey, id: string): Promise<Uint8Array | null> {
    const bytes = this.#logs.get(keyText(key))?.blobs.get(id);
    return bytes === undefined ? null : Uint8Array.from(bytes);
  }

  #log(key: SessionKey, text: string): MemoryLog {
    const known = this.#logs.get(text);
    if (known !== undefined) return known;
    const { projectKey, sessionId, subpath } = key;
    const own = { projectKey, sessionId, ...(subpath === undefined ? {} : { subpath }) };
    const log: MemoryLog = {
      key: own,
      lines: [],
      ids: new Set(),
      blobs: new Map(),
      modifiedAt: Date.now(),
    };
    this.#logs.set(text, log);
    return log;
  }
}

/** Whether a key's text is the given key or, for a session, one of its subpaths. */
function isWithin(other: string, text: string, { subpath }: SessionKey): boolean {
  if (other === text) return true;
  // `["project","session"` and a comma, which ends the text of the session id.
  return subpath === undefined && other.startsWith(`${text.slice(0, -1)},`);
}
