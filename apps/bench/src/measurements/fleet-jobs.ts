import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Queue, QueueEvents } from "bullmq";
import { Redis } from "ioredis";
import { RedisServer, redisIsMissing } from "../../../../packages/store-redis/test/redis-server.ts";
import { type BenchOptions, comparedRow, type Measurement, type Row } from "../measurement.ts";
import { ModelServer } from "../model-server.ts";
import { Workspace } from "../workspace.ts";

const program = fileURLToPath(
  new URL("bin/tau-worker.js", import.meta.resolve("@tau-agent/worker/package.json")),
);
const idleWorker = fileURLToPath(new URL("../floors/idle-worker.mjs", import.meta.url));
const CONCURRENCY = 2;

/** How long a worker takes for a prompt with one short reply, compared with a worker that does nothing. */
export const fleetJobs: Measurement = {
  name: "fleet-jobs",
  async run({ isQuick }: BenchOptions): Promise<Row[]> {
    if (redisIsMissing !== undefined) throw new Error(redisIsMissing);
    await using redis = await RedisServer.start();
    await using model = await ModelServer.start();
    using workspace = new Workspace(model.baseUrl);
    const host = ["--", "--provider", "bench", "--model", "bench"];
    const place = ["--redis", redis.url, "--store", redis.url, "--cwd", workspace.cwd];
    const own = ["--queue", "tau", "--concurrency", String(CONCURRENCY)];
    const workers = [
      await start([idleWorker, String(redis.port), "idle", String(CONCURRENCY)], workspace),
      await start([program, ...place, ...own, ...host], workspace),
    ];
    const sizes = { floor: isQuick ? 50 : 500, host: isQuick ? 6 : 20 };
    const times = { floor: [] as number[], host: [] as number[] };
    try {
      for (let round = -1; round < (isQuick ? 2 : 5); round += 1) {
        const floor = await run(redis.url, { queue: "idle", count: sizes.floor, round });
        const tau = await run(redis.url, { queue: "tau", count: sizes.host, round });
        if (round < 0) continue;
        times.floor.push(floor);
        times.host.push(tau);
      }
    } finally {
      for (const worker of workers) worker.kill("SIGKILL");
    }
    const ratioOf = "tau-worker / a BullMQ worker that does nothing";
    return [comparedRow({ what: `a job, ${CONCURRENCY} at a time`, unit: "ms", ratioOf }, times)];
  },
};

/** The average time per job in ms, from adding the first to the end of the last. */
async function run(
  url: string,
  { queue: name, count, round }: { queue: string; count: number; round: number },
): Promise<number> {
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const listening = connection.duplicate();
  const queue = new Queue(name, { connection });
  const ends = new QueueEvents(name, { connection: listening });
  // Each awaited job adds listeners.
  for (const emitter of [queue, ends]) emitter.setMaxListeners(0);
  await ends.waitUntilReady();
  const started = performance.now();
  const jobs = await queue.addBulk(
    Array.from({ length: count }, (_, at) => ({
      name: "prompt",
      data: { sessionId: `s-${round}-${at}`, message: "go" },
      opts: { jobId: `j-${round}-${at}` },
    })),
  );
  await Promise.all(jobs.map((job) => job.waitUntilFinished(ends)));
  const elapsed = (performance.now() - started) / count;
  await queue.close();
  await ends.close();
  for (const client of [connection, listening]) client.disconnect();
  return elapsed;
}

async function start(words: readonly string[], workspace: Workspace): Promise<ChildProcess> {
  const child = spawn(process.execPath, words, {
    env: workspace.env as NodeJS.ProcessEnv,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [said] = (await once(child.stderr, "data")) as [Buffer];
  if (!said.includes("takes prompts")) throw new Error(String(said));
  return child;
}
