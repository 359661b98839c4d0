import { SessionStoreError } from "@tau-agent/sessions";

/** The used part of a client from the package `ioredis`. */
export interface IoredisClient {
  callBuffer(command: string, ...words: (string | Buffer)[]): Promise<unknown>;
}

/** The used part of a client from the package `redis`. */
export interface NodeRedisClient {
  sendCommand(words: readonly (string | Buffer)[], options?: object): Promise<unknown>;
}

/** A word of a command. */
export type Word = string | number | Uint8Array;

/** A reply as returned by a driver, with strings as bytes. */
export type Reply = Buffer | number | null | readonly Reply[];

export interface ConnectionOptions {
  readonly url?: string | undefined;
  readonly client?: IoredisClient | NodeRedisClient | undefined;
}

/** The RESP type of strings, as numbered by the package `redis`. */
const BLOB_STRING = 36;

/** A connection that is opened with the first command, or the given client. */
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
   * @throws {SessionStoreError} `unavailable`, or `script_missing` for a script that the server does not have
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

  /** Closes the connection, if it was opened here. */
  async close(): Promise<void> {
    await this.#client?.catch(() => undefined);
    this.#close?.();
  }

  async #connect(): Promise<IoredisClient | NodeRedisClient> {
    const { url, client } = this.#options;
    if (client !== undefined) return client;
    const { Redis } = await import("ioredis");
    // The caller decides how long to wait for the store; the host repeats failed commands.
    const redis = new Redis(url ?? "", { maxRetriesPerRequest: 2, keepAlive: 10_000 });
    // The failed command reports the error; without a listener the driver would print it, too.
    redis.on("error", () => undefined);
    this.#close = () => redis.disconnect();
    return redis;
  }
}
