import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { DocumentAnswer, DocumentTask } from "./document-task.ts";

/** How long one document may take. */
const limitMs = 20_000;
const maxMemoryMb = 512;

/**
 * Reads a document in a separate thread: a document that takes too long or too much memory must not stop the
 * host. Rejects only with the signal's reason.
 */
export async function readDocument(
  task: DocumentTask,
  signal?: AbortSignal,
): Promise<DocumentAnswer> {
  signal?.throwIfAborted();
  const failed = (reason: string): DocumentAnswer => ({ kind: "failed", reason });
  // The worker is beside this file, both as source and in a bundle.
  const file = ["./document-worker.ts", "./document-worker.js"]
    .map((name) => new URL(name, import.meta.url))
    .find((url) => existsSync(url));
  if (file === undefined) return failed("the program that reads it is not installed here");
  const worker = new Worker(file, {
    env: {},
    execArgv: [],
    workerData: task,
    name: "document",
    // Output of the libraries must not reach the host's output.
    ...{ stdout: true, stderr: true },
    resourceLimits: { maxOldGenerationSizeMb: maxMemoryMb, maxYoungGenerationSizeMb: 64 },
  });
  const { promise, resolve, reject } = Promise.withResolvers<DocumentAnswer>();
  const late = setTimeout(
    () => resolve(failed(`reading it took longer than ${limitMs / 1000} s`)),
    limitMs,
  );
  const end = (): void => reject(signal?.reason);
  signal?.addEventListener("abort", end, { once: true });
  worker.on("message", (message: unknown) => {
    if (isAnswer(message)) resolve(message);
  });
  worker.once("error", (error) => resolve(failed(`it cannot be read (${error.message})`)));
  worker.once("exit", () => resolve(failed("it cannot be read")));
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    signal?.removeEventListener("abort", end);
    await worker.terminate();
  }
}

// Node may post its own messages on the channel.
function isAnswer(message: unknown): message is DocumentAnswer {
  return typeof message === "object" && message !== null && "kind" in message;
}
