/** Names one log of a store. Any two different keys are different logs, however they are spelt. */
export interface SessionKey {
  /** The project; any text but an empty one. */
  readonly projectKey: string;
  /** The session; any text but an empty one. */
  readonly sessionId: string;
  /** A part of the session with a log of its own, such as a subagent. */
  readonly subpath?: string | undefined;
}

/** The right to write one log, until it is released or somebody else has acquired it. */
export interface StoreLease {
  readonly key: SessionKey;
  /** Rises with each acquisition of the key, forever. */
  readonly token: number;
  /** Who holds it, for people. */
  readonly owner: string | undefined;
  /** When others may take it, in milliseconds since the epoch by the clock of the store. */
  readonly expiresAt: number;
}

/** What a write has to show: the token of its lease. */
export type LeaseToken = Pick<StoreLease, "token">;

/** A line of a session file as an object: the header first, entries after it. */
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
 * Where conversations live. `runStoreConformance` of `@tau-agent/sessions` checks a
 * store of your own against what is said here.
 *
 * A method that fails rejects with an error that has a `code`. After any code but `lease_held` and
 * `lease_lost` the same call may be repeated.
 */
export interface SessionStore {
  /**
   * Takes the right to write a log for `ttlMs` milliseconds.
   *
   * @param owner - who asks, for people
   * @throws `lease_held` while somebody has a lease that has not run out, also if it is the caller
   */
  acquire(key: SessionKey, ttlMs: number, owner?: string): Promise<StoreLease>;

  /**
   * Makes a lease last for `ttlMs` from now. One that ran out counts as long as nobody else took it.
   *
   * @throws `lease_lost` if it was released or somebody else has acquired the key
   */
  renew(lease: StoreLease, ttlMs: number): Promise<StoreLease>;

  /** Gives a lease back. Without effect if it is not the newest. */
  release(lease: StoreLease): Promise<void>;

  /**
   * Adds entries to the end of a log, all of them or none. An entry whose id the log already has is
   * left out. Batches are stored in the order of the calls.
   *
   * @throws `lease_lost` unless the token is the newest one of the key and not released; nothing is stored
   */
  append(key: SessionKey, entries: readonly object[], lease: LeaseToken): Promise<void>;

  /** The entries of a log, only whole batches; null if there are none. */
  load(key: SessionKey): Promise<StoreEntry[] | null>;

  /** The sessions of a project that have entries, in any order. */
  list(projectKey: string): Promise<StoredSession[]>;

  /**
   * Deletes a log with its blobs, and for a session all its subpaths. May be repeated.
   *
   * @throws `lease_held` while somebody has a lease of the key that has not run out, unless `lease` is it
   */
  delete(key: SessionKey, lease?: LeaseToken): Promise<void>;

  /** Stores bytes beside a log. */
  putBlob(key: SessionKey, bytes: Uint8Array): Promise<StoredBlob>;

  /** The bytes of a blob of this key; null if there is none with this id. */
  getBlob(key: SessionKey, id: string): Promise<Uint8Array | null>;

  /** Ends connections that the store itself has opened. */
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

/** A store cannot do what was asked; `code` says why. */
export class SessionStoreError extends Error {
  override readonly name = "SessionStoreError";
  readonly code: SessionStoreErrorCode;

  /**
   * @param message - by default a sentence for the known codes
   */
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
