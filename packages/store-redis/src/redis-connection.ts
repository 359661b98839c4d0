import { SessionStoreError } from "@tau-agent/sessions";

/** What a client of the package `ioredis` has. */
export interface IoredisClient {
  callBuffer(command: string, ...words: (string | Buffer)[]): Promise<unknown>;
}

/** What a client of the package `redis` has. */
export interface NodeRedisClient {
  sendCommand(words: readonly (string | Buffer)[], options?: object): Promise<unknown>;
}

/** A word of a command. */
export type Word = string | number | Uint8Array;

/** A reply as a driver gives it, with texts as bytes. */
export type Reply = Buffer | number | null | readonly Reply[];

export interface ConnectionOptions {
  readonly url?: string | undefined;
  readonly client?: IoredisClient | NodeRedisClient | undefined;
}

/** Type of RESP that carries texts, as the package `redis` numbers it. */
const BLOB_STRING = 36;

/** A connection that is made at the first command, or the client it was given. */
export class RedisConnection {
  readonly #options: ConnectionOptions;
  #client: Promise<IoredisClient | NodeRedisClient> | undefined;
  #close: (() => void) | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /**
   * Sends one command.
   *
   * @throws {SessionStoreError} `unavailable`, or `script_missing` for a script the server does not have
   */
  async send(command: string, ...words: readonly Word[]): Promise<Reply> {
    const plain = words.map((word) => {
      return word instanceof Uint8Array ? Buffer.from(word) : String(word);
    });
    try {
      this.#client ??= this.#connect();
      const client = await this.#client;
      if ("callBuffer" in client) return (await client.callBuffer(command, ...plain)) as Reply;
      const typeMapping = { [BLOB_STRING]: Buffer };
      return (await client.sendCommand([command, ...plain], { typeMapping })) as Reply;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const code = reason.startsWith("NOSCRIPT") ? "script_missing" : "unavailable";
      throw new SessionStoreError(code, `Redis: ${reason}`, { cause });
    }
  }

  /** Ends the connection, if it was made here. */
  async close(): Promise<void> {
    await this.#client?.catch(() => undefined);
    this.#close?.();
  }

  async #connect(): Promise<IoredisClient | NodeRedisClient> {
    const { url, client } = this.#options;
    if (client !== undefined) return client;
    const { Redis } = await import("ioredis");
    // Who waits for the store decides how long to; a command that fails is repeated by the host.
    const redis = new Redis(url ?? "", { maxRetriesPerRequest: 2, keepAlive: 10_000 });
    // The command that fails says so; without a listener the driver would print it, too.
    redis.on("error", () => undefined);
    this.#close = () => redis.disconnect();
    return redis;
  }
}
