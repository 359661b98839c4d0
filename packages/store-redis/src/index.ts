/**
 * Conversations in Redis.
 *
 * @packageDocumentation
 */
export { createRedisStore, type RedisStoreOptions } from "./create-redis-store.ts";
export type { IoredisClient, NodeRedisClient } from "./redis-connection.ts";
