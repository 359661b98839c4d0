import type { Job } from "bullmq";
import type { Redis } from "ioredis";

/**
 * line, active jobs of the queue; job, its id, when it was added, how keys of jobs begin, how data of the
 * session's jobs contain it → the job whose turn it is.
 *
 * Jobs that other workers took earlier, but have not brought here yet, are put in line as well. Jobs of one
 * millisecond come as they were taken.
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
 * Whose turn it is among the jobs of a session, over all workers: the first that was added. A job whose
 * worker died keeps its turn, so that no later prompt comes between.
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
    // From now on it is first, even if an earlier one comes late.
    await this.#redis.zadd(line, "XX", 0, own);
    return true;
  }

  async leave(job: Job, sessionId: string): Promise<void> {
    await this.#redis.zrem(lineOf(sessionId), keyOf(job));
  }

  /** Jobs may be removed from the queue, or fail without a worker. */
  async #isWaited(key: string): Promise<boolean> {
    const [added, finished] = await this.#redis.hmget(key, "timestamp", "finishedOn");
    return added !== null && finished === null;
  }
}

function lineOf(sessionId: string): string {
  return `tau:turns:${sessionId}`;
}

/** The key of the job in Redis: jobs of a session may be in different queues. */
function keyOf(job: Job): string {
  return `${job.prefix}:${job.queueName}:${job.id}`;
}
