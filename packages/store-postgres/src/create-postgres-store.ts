import { createHash } from "node:crypto";
import {
  blobId,
  checkName,
  checkTtl,
  type LeaseToken,
  readStoreUrl,
  type SessionKey,
  type SessionStore,
  SessionStoreError,
  type StoredBlob,
  type StoredSession,
  type StoreEntry,
  type StoreLease,
  Turns,
} from "@tau-agent/sessions";
import { PostgresConnection, type PostgresPool } from "./postgres-connection.ts";
import { statements } from "./tables.ts";

/** The database to use, and its schema. */
export interface PostgresStoreOptions {
  /** `postgres://` or `postgresql://`; `?schema=` has the same effect as {@link schema}. */
  readonly url?: string | undefined;
  /** A pool of the package `pg`, instead of a URL; `close()` leaves it open. */
  readonly pool?: PostgresPool | undefined;
  /** The schema with the tables; `tau` by default. It is created if it does not exist. */
  readonly schema?: string | undefined;
}

/**
 * A store in PostgreSQL, 13 or newer. It connects and creates its tables on first use. Each write is
 * one transaction that checks the lease, so a writer whose lease has ended can change nothing.
 *
 * @throws {SessionStoreError} `invalid_argument` without exactly one of `url` and `pool`
 */
export function createPostgresStore({ url, pool, schema }: PostgresStoreOptions): SessionStore {
  if ((url === undefined) === (pool === undefined)) {
    throw new SessionStoreError("invalid_argument", "give either url or pool");
  }
  const place =
    url === undefined ? undefined : readStoreUrl(url, ["postgres:", "postgresql:"], "schema");
  return new PostgresStore(schema ?? place?.value ?? "tau", { url: place?.url, pool });
}

class PostgresStore implements SessionStore {
  readonly #connection: PostgresConnection;
  readonly #sql: ReturnType<typeof statements>;
  /** The last append of each key, which the next one, on another connection, must not overtake. */
  readonly #turns = new Turns();

  constructor(
    schema: string,
    place: { url?: string | undefined; pool?: PostgresPool | undefined },
  ) {
    const quoted = `"${schema.replaceAll('"', '""')}"`;
    this.#connection = new PostgresConnection({ ...place, schema: quoted });
    this.#sql = statements(quoted);
  }

  async acquire(key: SessionKey, ttlMs: number, owner?: string): Promise<StoreLease> {
    const { log, session, project } = hashesOf(key);
    checkTtl(ttlMs);
    const names = [JSON.stringify(key.sessionId), key.subpath !== undefined];
    const shown = owner === undefined ? null : JSON.stringify(owner);
    const values = [log, session, project, ...names, shown, ttlMs];
    const [row] = await this.#connection.query(this.#sql.acquire, ...values);
    if (row === undefined) return this.#refuseHeld(log);
    return { key, token: Number(row.token), owner, expiresAt: Number(row.expires) };
  }

  async renew(lease: StoreLease, ttlMs: number): Promise<StoreLease> {
    const { log } = hashesOf(lease.key);
    checkTtl(ttlMs);
    const values = [log, lease.token, ttlMs];
    const [row] = await this.#connection.query(this.#sql.renew, ...values);
    if (row === undefined) throw new SessionStoreError("lease_lost");
    return { ...lease, expiresAt: Number(row.expires) };
  }

  async release(lease: StoreLease): Promise<void> {
    await this.#connection.query(this.#sql.release, hashesOf(lease.key).log, lease.token);
  }

  async append(key: SessionKey, entries: readonly object[], lease: LeaseToken): Promise<void> {
    const { log } = hashesOf(key);
    const ids = entries.map(idOf);
    const bodies = entries.map((entry) => JSON.stringify(entry));
    await this.#turns.take(log.toString("hex"), async () => {
      const values = [log, lease.token, ids, bodies];
      const [row] = await this.#connection.query(this.#sql.append, ...values);
      if (row?.fences !== 1) throw new SessionStoreError("lease_lost");
    });
  }

  async load(key: SessionKey): Promise<StoreEntry[] | null> {
    const rows = await this.#connection.query(this.#sql.load, hashesOf(key).log);
    return rows.length === 0
      ? null
      : rows.map(({ body }) => JSON.parse(String(body)) as StoreEntry);
  }

  async list(projectKey: string): Promise<StoredSession[]> {
    const { project } = hashesOf({ projectKey, sessionId: "any" });
    const rows = await this.#connection.query(this.#sql.list, project);
    return rows.map(({ name, modified }) => ({
      projectKey,
      sessionId: JSON.parse(String(name)) as string,
      modifiedAt: Number(modified),
    }));
  }

  async delete(key: SessionKey, lease?: LeaseToken): Promise<void> {
    const { log, session } = hashesOf(key);
    const [column, value] = key.subpath === undefined ? ["session", session] : ["key", log];
    const isHeld = await this.#connection.transaction(async (client) => {
      const { rows } = await client.query(this.#sql.lock, [log, lease?.token ?? null]);
      if (rows[0]?.is_held === true) return true;
      await client.query(this.#sql.end(column), [value]);
      await client.query(this.#sql.removeEntries(column), [value]);
      await client.query(this.#sql.removeBlobs(column), [value]);
      return false;
    });
    if (isHeld) await this.#refuseHeld(log);
  }

  async putBlob(key: SessionKey, bytes: Uint8Array): Promise<StoredBlob> {
    const { log, session } = hashesOf(key);
    const own = Buffer.from(bytes);
    const id = blobId(own);
    await this.#connection.query(this.#sql.putBlob, log, id, session, own);
    return { id, size: own.length };
  }

  async getBlob(key: SessionKey, id: string): Promise<Uint8Array | null> {
    const { log } = hashesOf(key);
    // PostgreSQL text cannot contain NUL, and neither can an id.
    if (!id.startsWith("sha256:") || id.includes("\u0000")) return null;
    const [row] = await this.#connection.query(this.#sql.getBlob, log, id);
    return (row?.bytes as Buffer | undefined) ?? null;
  }

  /** Shortens a lease from before the clock was set back, so that it ends in time for the next caller. */
  async #refuseHeld(log: Buffer): Promise<never> {
    await this.#connection.query(this.#sql.shorten, log);
    throw new SessionStoreError("lease_held");
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }
}

function hashesOf({ projectKey, sessionId, subpath }: SessionKey) {
  const names = { projectKey, sessionId, ...(subpath === undefined ? {} : { subpath }) };
  for (const [name, text] of Object.entries(names)) checkName(name, text);
  return {
    project: hash([projectKey]),
    session: hash([projectKey, sessionId]),
    log: hash(subpath === undefined ? [projectKey, sessionId] : [projectKey, sessionId, subpath]),
  };
}

/** Hashes JSON, which distinguishes lone surrogates, while UTF-8 does not. */
function hash(names: readonly string[]): Buffer {
  return createHash("sha256").update(JSON.stringify(names)).digest();
}

function idOf(entry: object): Buffer | null {
  const { id } = entry as { readonly id?: unknown };
  return typeof id === "string" ? hash([id]) : null;
}
