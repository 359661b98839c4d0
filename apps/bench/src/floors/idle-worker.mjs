/** A worker of a BullMQ queue that does nothing: `idle-worker.mjs <port> <queue> <concurrency>`. */
import { Worker } from "bullmq";

const [port, queue = "", concurrency] = process.argv.slice(2);
const connection = { port: Number(port), maxRetriesPerRequest: null };
const worker = new Worker(queue, async () => "", { connection, concurrency: Number(concurrency) });
await worker.waitUntilReady();
process.stderr.write("takes prompts\n");
