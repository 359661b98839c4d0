/** Identifies one log in a store. Different keys are always different logs, however they are spelt. */
export interface SessionKey {
  /** The project; any non-empty text. */
  readonly projectKey: string;
  /** The session; any non-empty text. */
  readonly sessionId: string;
  /** A part of the session with a separate log, such as a subagent. */
  readonly subpath?: string | undefined;
}

/** The right to write one log, until it is released or another host has acquired it. */
export interface StoreLease {
  readonly key: SessionKey;
  /** Increases with each acquisition of the key, forever. */
  readonly token: number;
  /** The holder, for people to read. */
  readonly owner: string | undefined;
  /** When others may take it, in milliseconds since the epoch by the clock of the store. */
  readonly expiresAt: number;
}

/** The token of a lease, which every write must present. */
export type LeaseToken = Pick<StoreLease, "token">;

/** A line of a session file as an object: first the header, then entries. */
export type StoreEntry = Readonly<Record<string, unknown>>;

/** A session in a list. */
export interface StoredSession {
  readonly projectKey: string;
  readonly sessionId: string;
  /** When it was last written, in milliseconds since the epoch. */
  readonly modifiedAt: number;
}

/** A stored blob. */
export interface StoredBlob {
  /** `sha256:` and the hash of its bytes in hexadecimal. */
  readonly id: string;
  /** Its number of bytes. */
  readonly size: number;
}

/**
 * Where conversations live. `runStoreConformance` of `@tau-agent/sessions` checks your own store
 * against this description.
 *
 * A method that fails rejects with an error that has a `code`. After any code but `lease_held` and
 * `lease_lost` the same call may be repeated.
 */
export interface SessionStore {
  /**
   * Acquires the right to write a log for `ttlMs` milliseconds.
   *
   * @param owner - the caller, for people to read
   * @throws `lease_held` while there is a lease that has not expired, even if the caller holds it
   */
  acquire(key: SessionKey, ttlMs: number, owner?: string): Promise<StoreLease>;

  /**
   * Extends a lease to `ttlMs` from now. An expired lease can be renewed as long as no other host
   * has acquired the key.
   *
   * @throws `lease_lost` if it was released or another host has acquired the key
   */
  renew(lease: StoreLease, ttlMs: number): Promise<StoreLease>;

  /** Releases a lease. Has no effect if it is not the newest one. */
  release(lease: StoreLease): Promise<void>;

  /**
   * Appends entries to a log, all of them or none. An entry whose id the log already has is skipped. Batches are
   * stored in the order of the calls.
   *
   * @throws `lease_lost` unless the token is the newest of the key and not released; then nothing is stored
   */
  append(key: SessionKey, entries: readonly object[], lease: LeaseToken): Promise<void>;

  /** The entries of a log, in complete batches only; null if there are none. */
  load(key: SessionKey): Promise<StoreEntry[] | null>;

  /** The sessions of a project that have entries, in any order. */
  list(projectKey: string): Promise<StoredSession[]>;

  /**
   * Deletes a log with its blobs, and for a session also all its subpaths. May be repeated.
   *
   * @throws `lease_held` while the key has a lease that has not expired, unless that is `lease`
   */
  delete(key: SessionKey, lease?: LeaseToken): Promise<void>;

  /** Stores bytes beside a log. */
  putBlob(key: SessionKey, bytes: Uint8Array): Promise<StoredBlob>;

  /** The bytes of a blob of this key; null if there is none with this id. */
  getBlob(key: SessionKey, id: string): Promise<Uint8Array | null>;

  /** Closes connections that the store itself has opened. */
  close?(): Promise<void>;
}

/** Why a store refused or failed; a store may use further codes. */
export type SessionStoreErrorCode =
  | "lease_held"
  | "lease_lost"
  | "invalid_key"
  | "invalid_argument"
  | "unavailable"
  | (string & {});

/** A store could not do what was requested; `code` says why. */
export class SessionStoreError extends Error {
  override readonly name = "SessionStoreError";
  readonly code: SessionStoreErrorCode;

  /** @param message - defaults to a sentence for the known codes */
  constructor(code: SessionStoreErrorCode, message?: string, options?: ErrorOptions) {
    super(message ?? sentences[code] ?? `The session store failed: ${code}`, options);
    this.code = code;
  }
}

const sentences: Readonly<Record<string, string>> = {
  lease_held:
    "Somebody else is writing this session. Wait until the lease ends, or fork the session.",
  lease_lost: "The lease of this session has ended. Open the session again to go on.",
};
