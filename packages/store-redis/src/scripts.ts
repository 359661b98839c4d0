import { createHash } from "node:crypto";
import type { RedisConnection, Reply, Word } from "./redis-connection.ts";

/** A script that Redis runs atomically. It uses the server's clock. */
export interface Script {
  readonly source: string;
  readonly hash: string;
}

function script(source: string): Script {
  return { source, hash: createHash("sha1").update(source).digest("hex") };
}

const clock = `
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** When a lease ends, if it is active. More time left than was granted means that the clock was set back. */
const living = `${clock}
local function living(key)
  local expires = tonumber(redis.call("HGET", key, "expires"))
  if not expires or expires <= now then return nil end
  local ttl = tonumber(redis.call("HGET", key, "ttl"))
  if ttl and expires > now + ttl then redis.call("HSET", key, "expires", now + ttl) end
  return expires
end
`;

/** lease, parts; ttl, owner, part → token and expiry, or nothing if the lease is held. */
export const acquire = script(`${living}
if living(KEYS[1]) then return false end
redis.call("SADD", KEYS[2], ARGV[3])
local token = redis.call("HINCRBY", KEYS[1], "token", 1)
redis.call("HSET", KEYS[1], "expires", now + ARGV[1], "ttl", ARGV[1], "owner", ARGV[2])
return {token, now + ARGV[1]}
`);

/** lease; token, ttl → expiry, or nothing if the lease is lost. */
export const renew = script(`${clock}
if redis.call("HGET", KEYS[1], "token") ~= ARGV[1] then return false end
if redis.call("HEXISTS", KEYS[1], "expires") == 0 then return false end
redis.call("HSET", KEYS[1], "expires", now + ARGV[2], "ttl", ARGV[2])
return now + ARGV[2]
`);

/** lease; token. Scripts that only remove are allowed even if the memory is full. */
export const release = script(`
if redis.call("HGET", KEYS[1], "token") == ARGV[1] then
  redis.call("HDEL", KEYS[1], "expires", "ttl", "owner")
end
return 1
`);

/** lease, log, ids, sessions; token, session, then id and text of each entry → nothing if the lease is lost. */
export const append = script(`${clock}
if redis.call("HGET", KEYS[1], "token") ~= ARGV[1] then return false end
if redis.call("HEXISTS", KEYS[1], "expires") == 0 then return false end
for at = 3, #ARGV, 2 do
  if ARGV[at] == "" or redis.call("SADD", KEYS[3], ARGV[at]) == 1 then
    redis.call("RPUSH", KEYS[2], ARGV[at + 1])
  end
end
if ARGV[2] ~= "" then redis.call("HSET", KEYS[4], ARGV[2], now) end
return 1
`);

/**
 * lease, parts, sessions; token, session, the part alone or nothing for all, project → nothing if the
 * lease is held. Tokens are kept.
 */
export const remove = script(`${living}
if living(KEYS[1]) and redis.call("HGET", KEYS[1], "token") ~= ARGV[1] then return false end
local parts = {ARGV[3]}
if ARGV[2] ~= "" then parts = redis.call("SMEMBERS", KEYS[2]) end
for _, part in ipairs(parts) do
  redis.call("HDEL", ARGV[4] .. "lease:" .. part, "expires", "ttl", "owner")
  redis.call("DEL", ARGV[4] .. "log:" .. part, ARGV[4] .. "ids:" .. part, ARGV[4] .. "blobs:" .. part)
end
if ARGV[2] ~= "" then
  redis.call("DEL", KEYS[2])
  redis.call("HDEL", KEYS[3], ARGV[2])
end
return 1
`);

/** blobs, parts; id, bytes, part. */
export const putBlob = script(`
redis.call("SADD", KEYS[2], ARGV[3])
redis.call("HSET", KEYS[1], ARGV[1], ARGV[2])
return 1
`);

/** sessions → names and times alternately; the reply of the command itself would depend on the driver's protocol. */
export const list = script(`return redis.call("HGETALL", KEYS[1])`);

/** Runs a script; its text is sent only to a server that does not have it yet. */
export async function runScript(
  connection: RedisConnection,
  { source, hash }: Script,
  keys: readonly string[],
  words: readonly Word[],
): Promise<Reply> {
  try {
    return await connection.send("EVALSHA", hash, keys.length, ...keys, ...words);
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== "script_missing") throw error;
    return connection.send("EVAL", source, keys.length, ...keys, ...words);
  }
}
