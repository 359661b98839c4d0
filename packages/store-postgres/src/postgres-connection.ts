import { SessionStoreError } from "@tau-agent/sessions";
import { tableStatements } from "./tables.ts";

/** The result of a query. */
export interface PostgresResult {
  readonly rows: readonly Record<string, unknown>[];
}

/** The used part of a client from the package `pg`. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
  release(error?: boolean | Error): void;
}

/** The used part of a pool from the package `pg`. */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
  connect(): Promise<PostgresClient>;
}

export interface ConnectionOptions {
  readonly url?: string | undefined;
  readonly pool?: PostgresPool | undefined;
  /** The schema, quoted. */
  readonly schema: string;
}

/** The lock for creating the tables: two hosts that do so at the same time would fail. */
const MAKING_TABLES = 0x7a_75;

/** A pool that is created with the first query, or the given one; creates the tables. */
export class PostgresConnection {
  readonly #options: ConnectionOptions;
  #pool: Promise<PostgresPool> | undefined;
  #ready: Promise<unknown> | undefined;
  #end: (() => Promise<void>) | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** @throws {SessionStoreError} `unavailable` */
  async query(text: string, ...values: unknown[]): Promise<PostgresResult["rows"]> {
    try {
      const pool = await this.#prepared();
      return (await pool.query(text, values)).rows;
    } catch (error) {
      throw unavailable(error);
    }
  }

  /**
   * Runs steps that take effect together or not at all.
   *
   * @throws {SessionStoreError} `unavailable`, or the error of the steps
   */
  async transaction<T>(steps: (client: PostgresClient) => Promise<T>): Promise<T> {
    try {
      return await within(await this.#prepared(), steps);
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** Closes the pool, if it was created here. May be called again. */
  async close(): Promise<void> {
    await this.#pool?.catch(() => undefined);
    const end = this.#end;
    this.#end = undefined;
    await end?.();
  }

  async #prepared(): Promise<PostgresPool> {
    this.#pool ??= this.#connect();
    const pool = await this.#pool;
    this.#ready ??= this.#makeTables(pool);
    const ready = this.#ready;
    try {
      await ready;
    } catch (error) {
      // The server may have been unavailable; the next call tries again.
      if (this.#ready === ready) this.#ready = undefined;
      throw error;
    }
    return pool;
  }

  async #connect(): Promise<PostgresPool> {
    const { url, pool: given } = this.#options;
    if (given !== undefined) return given;
    const { default: pg } = await import("pg");
    const pool = new pg.Pool({ connectionString: url, keepAlive: true });
    // A broken idle connection is replaced; without a listener its error would end the process.
    pool.on("error", () => undefined);
    this.#end = () => pool.end();
    return pool;
  }

  async #makeTables(pool: PostgresPool): Promise<void> {
    const { schema } = this.#options;
    // An account that may only use the tables does not need to create them.
    const found = await pool.query("SELECT to_regclass($1) IS NOT NULL AS is_there", [
      `${schema}.blobs`,
    ]);
    if (found.rows[0]?.is_there === true) return;
    await within(pool, async (client) => {
      await client.query("SELECT pg_advisory_xact_lock($1)", [MAKING_TABLES]);
      for (const statement of tableStatements(schema)) await client.query(statement);
    });
  }
}

async function within<T>(
  pool: PostgresPool,
  steps: (client: PostgresClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const result = await steps(client);
    await client.query("COMMIT");
    client.release();
    return result;
  } catch (error) {
    // A connection in the middle of a transaction is not reused.
    client.release(true);
    throw error;
  }
}

function unavailable(cause: unknown): Error {
  if (cause instanceof SessionStoreError) return cause;
  const reason = cause instanceof Error ? cause.message || cause.name : String(cause);
  return new SessionStoreError("unavailable", `PostgreSQL: ${reason}`, { cause });
}
