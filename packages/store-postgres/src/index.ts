/**
 * Conversations in PostgreSQL.
 *
 * @packageDocumentation
 */
export { createPostgresStore, type PostgresStoreOptions } from "./create-postgres-store.ts";
export type { PostgresClient, PostgresPool, PostgresResult } from "./postgres-connection.ts";
