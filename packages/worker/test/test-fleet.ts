import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Queue, QueueEvents } from "bullmq";
import { Redis } from "ioredis";
import { expect, onTestFinished } from "vitest";

const program = fileURLToPath(new URL("../bin/tau-worker.js", import.meta.url));

/** A frame in the stream of a session. */
export type Frame = Readonly<Record<string, unknown>>;

/** The options of a test's fleet. */
export interface TestFleetOptions {
  readonly redisUrl: string;
  /** By default the store is in the same Redis. */
  readonly storeUrl?: string;
  /** Turns of the scripted model, or the source of a module that decides them. */
  readonly scenario: readonly unknown[] | string;
  /** The hosts' settings. */
  readonly settings?: object;
}

/** A worker, with its stderr. */
export interface TestWorker {
  readonly process: ChildProcess;
  readonly said: () => string;
}

let count = 0;

/** A queue for one test, with a folder; everything is removed when the test ends. */
export function testFleet({
  redisUrl,
  storeUrl = redisUrl,
  scenario,
  settings = {},
}: TestFleetOptions) {
  const folder = mkdtempSync(join(tmpdir(), "tau-fleet-"));
  const name = `queue-${process.pid}-${count++}`;
  const isModule = typeof scenario === "string";
  const model = join(folder, isModule ? "scenario.mjs" : "scenario.json");
  writeFileSync(model, isModule ? scenario : JSON.stringify(scenario));
  const project = join(folder, "project");
  mkdirSync(project);
  mkdirSync(join(folder, "agent"));
  writeFileSync(join(folder, "agent", "settings.json"), JSON.stringify(settings));
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue(name, { connection: redis });
  const listening = redis.duplicate();
  const ends = new QueueEvents(name, { connection: listening });
  // The server may end before the clients.
  for (const client of [redis, listening]) client.on("error", () => undefined);
  const workers: ChildProcess[] = [];
  onTestFinished(async () => {
    for (const worker of workers) worker.kill("SIGKILL");
    await queue.close();
    await ends.close();
    redis.disconnect();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });

  async function start(
    options: readonly string[] = [],
    host: readonly string[] = [],
    variables: Readonly<Record<string, string>> = {},
  ) {
    const place = ["--redis", redisUrl, "--queue", name, "--store", storeUrl];
    const own = ["--cwd", project, "--lease-ms", "1500", ...options];
    const words = ["--provider", "scripted", "--model", model, ...host];
    const child = spawn(process.execPath, [program, ...place, ...own, "--", ...words], {
      cwd: folder,
      env: {
        ...process.env,
        HOME: folder,
        PI_CODING_AGENT_DIR: join(folder, "agent"),
        ...variables,
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    workers.push(child);
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      said += String(chunk);
    });
    while (!said.includes("takes prompts")) {
      if (child.exitCode !== null) throw new Error(said);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return { process: child, said: () => said } satisfies TestWorker;
  }

  const add = (data: object, jobId: string) => queue.add("prompt", data, { jobId });

  async function framesOf(sessionId: string): Promise<Frame[]> {
    const entries = await redis.xrange(`tau:events:${sessionId}`, "-", "+");
    return entries.map(([, [, text = "{}"]]) => JSON.parse(text) as Frame);
  }

  async function resultsOf(sessionId: string): Promise<Frame[]> {
    return (await framesOf(sessionId)).filter(({ type }) => type === "prompt_result");
  }

  /** Waits for a frame, and calls `meanwhile` again and again until it comes. */
  async function seen(sessionId: string, type: string, meanwhile?: () => Promise<void>) {
    const types = async () => {
      await meanwhile?.();
      return (await framesOf(sessionId)).map((frame) => frame.type);
    };
    await expect.poll(types).toContain(type);
  }

  const control = (sessionId: string, command: object) =>
    redis.xadd(`tau:control:${sessionId}`, "*", "command", JSON.stringify(command));

  return { folder, project, redis, queue, ends, start, add, framesOf, resultsOf, seen, control };
}

/** The ids of the processes that a worker has started. */
export function hostsOf(worker: TestWorker | undefined): string[] {
  const found = spawnSync("pgrep", ["-P", String(worker?.process.pid)], { encoding: "utf8" });
  return found.stdout.split("\n").filter(Boolean);
}
