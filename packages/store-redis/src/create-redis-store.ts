import {
  blobId,
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
import {
  type IoredisClient,
  type NodeRedisClient,
  RedisConnection,
  type Reply,
} from "./redis-connection.ts";
import { keysOf, projectPrefix, unspelt } from "./redis-keys.ts";
import { acquire, append, list, putBlob, release, remove, renew, runScript } from "./scripts.ts";

/** The Redis server to use, and the prefix of its keys. */
export interface RedisStoreOptions {
  /** `redis://` or `rediss://`; `?prefix=` has the same effect as {@link prefix}. */
  readonly url?: string | undefined;
  /** A client of the package `ioredis` or `redis`, instead of a URL; `close()` leaves it open. */
  readonly client?: IoredisClient | NodeRedisClient | undefined;
  /** The prefix of all key names; `tau:` by default. */
  readonly prefix?: string | undefined;
}

/**
 * A store in Redis. It connects when it is first used. Each write is one script, so a writer whose lease
 * has ended can change nothing. How durable acknowledged writes are depends on the server's settings:
 * see `appendfsync` and `maxmemory-policy`.
 *
 * @throws {SessionStoreError} `invalid_argument` without exactly one of `url` and `client`
 */
export function createRedisStore({ url, client, prefix }: RedisStoreOptions): SessionStore {
  if ((url === undefined) === (client === undefined)) {
    throw new SessionStoreError("invalid_argument", "give either url or client");
  }
  const place = url === undefined ? undefined : readStoreUrl(url, ["redis:", "rediss:"], "prefix");
  const connection = new RedisConnection({ url: place?.url, client });
  return new RedisStore(connection, prefix ?? place?.value ?? "tau:");
}

class RedisStore implements SessionStore {
  readonly #connection: RedisConnection;
  readonly #prefix: string;
  /** The last append of each key, for which the next one waits. */
  readonly #turns = new Turns();

  constructor(connection: RedisConnection, prefix: string) {
    this.#connection = connection;
    this.#prefix = prefix;
  }

  async acquire(key: SessionKey, ttlMs: number, owner?: string): Promise<StoreLease> {
    const keys = keysOf(this.#prefix, key);
    const words = [milliseconds(ttlMs), owner ?? "", keys.part];
    const reply = await this.#run(acquire, [keys.lease, keys.parts], words);
    if (!Array.isArray(reply)) throw new SessionStoreError("lease_held");
    const [token, expiresAt] = reply as readonly Reply[];
    return { key, token: Number(token), owner, expiresAt: Number(expiresAt) };
  }

  async renew(lease: StoreLease, ttlMs: number): Promise<StoreLease> {
    const keys = keysOf(this.#prefix, lease.key);
    const reply = await this.#run(renew, [keys.lease], [lease.token, milliseconds(ttlMs)]);
    if (reply === null) throw new SessionStoreError("lease_lost");
    return { ...lease, expiresAt: Number(reply) };
  }

  async release(lease: StoreLease): Promise<void> {
    const keys = keysOf(this.#prefix, lease.key);
    await this.#run(release, [keys.lease], [lease.token]);
  }

  async append(key: SessionKey, entries: readonly object[], lease: LeaseToken): Promise<void> {
    const keys = keysOf(this.#prefix, key);
    const words = entries.flatMap((entry) => [idOf(entry), JSON.stringify(entry)]);
    await this.#turns.take(keys.log, async () => {
      const named = [keys.lease, keys.log, keys.ids, keys.sessions];
      const field = words.length === 0 ? "" : (keys.field ?? "");
      const reply = await this.#run(append, named, [lease.token, field, ...words]);
      if (reply === null) throw new SessionStoreError("lease_lost");
    });
  }

  async load(key: SessionKey): Promise<StoreEntry[] | null> {
    const { log } = keysOf(this.#prefix, key);
    const lines = (await this.#connection.send("LRANGE", log, 0, -1)) as readonly Buffer[];
    return lines.length === 0
      ? null
      : lines.map((line) => JSON.parse(line.toString("utf8")) as StoreEntry);
  }

  async list(projectKey: string): Promise<StoredSession[]> {
    const name = `${projectPrefix(this.#prefix, projectKey)}sessions`;
    const pairs = (await this.#run(list, [name], [])) as readonly Buffer[];
    return Array.from({ length: pairs.length / 2 }, (_, at) => ({
      projectKey,
      sessionId: unspelt(String(pairs[at * 2])),
      modifiedAt: Number(pairs[at * 2 + 1]),
    }));
  }

  async delete(key: SessionKey, lease?: LeaseToken): Promise<void> {
    const keys = keysOf(this.#prefix, key);
    const project = projectPrefix(this.#prefix, key.projectKey);
    const words = [lease?.token ?? "", keys.field ?? "", keys.part, project];
    const reply = await this.#run(remove, [keys.lease, keys.parts, keys.sessions], words);
    if (reply === null) throw new SessionStoreError("lease_held");
  }

  async putBlob(key: SessionKey, bytes: Uint8Array): Promise<StoredBlob> {
    const keys = keysOf(this.#prefix, key);
    const own = Buffer.from(bytes);
    const id = blobId(own);
    await this.#run(putBlob, [keys.blobs, keys.parts], [id, own, keys.part]);
    return { id, size: own.length };
  }

  async getBlob(key: SessionKey, id: string): Promise<Uint8Array | null> {
    const { blobs } = keysOf(this.#prefix, key);
    return (await this.#connection.send("HGET", blobs, id)) as Buffer | null;
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  #run(...[script, keys, words]: RunParameters): Promise<Reply> {
    return runScript(this.#connection, script, keys, words);
  }
}

type RunParameters = Parameters<typeof runScript> extends [unknown, ...infer Rest] ? Rest : never;

/** An id as stored in Redis: JSON, because UTF-8 cannot distinguish lone surrogates. */
function idOf(entry: object): string {
  const { id } = entry as { readonly id?: unknown };
  return typeof id === "string" ? JSON.stringify(id) : "";
}

/** Redis accepts only whole milliseconds. */
function milliseconds(ttlMs: number): number {
  checkTtl(ttlMs);
  return Math.ceil(ttlMs);
}
