import type { Job } from "bullmq";
import type { Redis } from "ioredis";

/**
 * Arguments: the line, the queue's active jobs; the job, its id, the time it was added, the prefix of job keys, the
 * text that marks the session in a job's data. Returns the job that is next.
 *
 * Earlier jobs that other workers have taken, but not added here yet, are put in line as well. Jobs of the same
 * millisecond keep the order in which they were taken.
 */
const join = `
local function add(member, time)
  local place = time + redis.call("ZCARD", KEYS[1]) / 4096
  redis.call("ZADD", KEYS[1], "NX", string.format("%.17g", place), member)
end
if not redis.call("ZSCORE", KEYS[1], ARGV[1]) then
  local active = redis.call("LRANGE", KEYS[2], 0, -1)
  for at = #active, 1, -1 do
    if active[at] == ARGV[2] then break end
    local job = redis.call("HMGET", ARGV[4] .. active[at], "timestamp", "data")
    local isEarlier = job[1] and tonumber(job[1]) <= tonumber(ARGV[3])
    if isEarlier and job[2] and string.find(job[2], ARGV[5], 1, true) then
      add(ARGV[4] .. active[at], job[1])
    end
  end
  add(ARGV[1], ARGV[3])
end
return redis.call("ZRANGE", KEYS[1], 0, 0)[1]
`;

/**
 * Decides which of a session's jobs is next, across all workers: the one that was added first. A job whose worker died
 * keeps its turn, so that no later prompt overtakes it.
 */
export class SessionTurns {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  async isNext(job: Job, sessionId: string): Promise<boolean> {
    const line = lineOf(sessionId);
    const queue = `${job.prefix}:${job.queueName}:`;
    const own = keyOf(job);
    const held = `"sessionId":${JSON.stringify(sessionId)}`;
    const words = [own, String(job.id), job.timestamp, queue, held];
    for (;;) {
      const first = String(await this.#redis.eval(join, 2, line, `${queue}active`, ...words));
      if (first === own) break;
      if (await this.#isWaited(first)) return false;
      await this.#redis.zrem(line, first);
    }
    // Fixes the job in first place, even if an earlier job arrives late.
    await this.#redis.zadd(line, "XX", 0, own);
    return true;
  }

  async leave(job: Job, sessionId: string): Promise<void> {
    await this.#redis.zrem(lineOf(sessionId), keyOf(job));
  }

  /** Whether a job is still unfinished: it may have been removed from the queue, or have failed without a worker. */
  async #isWaited(key: string): Promise<boolean> {
    const [added, finished] = await this.#redis.hmget(key, "timestamp", "finishedOn");
    return added !== null && finished === null;
  }
}

function lineOf(sessionId: string): string {
  return `tau:turns:${sessionId}`;
}

/** The job's key in Redis, because the jobs of a session may be in different queues. */
function keyOf(job: Job): string {
  return `${job.prefix}:${job.queueName}:${job.id}`;
}
