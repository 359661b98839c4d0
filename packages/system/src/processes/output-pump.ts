import type { Readable } from "node:stream";
import { within } from "../base/within.ts";

export type OutputStream = "stdout" | "stderr";

/** Takes a chunk; a returned promise holds the stream back until it resolves. Must not fail. */
export type OutputSink = (chunk: Buffer, stream: OutputStream) => Promise<void> | undefined;

/** Moves a child's output to a sink at the sink's pace. */
export function createOutputPump(stdout: Readable, stderr: Readable, sink: OutputSink) {
  const streams: Readable[] = [];
  const { promise: allClosed, resolve: resolveAllClosed } = Promise.withResolvers<void>();
  let chunkCount = 0;
  let heldBack = 0;
  let isDiscarding = false;
  let openCount = 0;
  attach(stdout, "stdout");
  attach(stderr, "stderr");

  function attach(stream: Readable, name: OutputStream): void {
    streams.push(stream);
    openCount++;
    stream.on("data", (chunk: Buffer) => take(stream, name, chunk));
    stream.on("error", () => {});
    stream.on("close", () => {
      openCount--;
      if (openCount === 0) resolveAllClosed();
    });
  }

  function take(stream: Readable, name: OutputStream, chunk: Buffer): void {
    if (isDiscarding) return;
    chunkCount++;
    const pending = sink(chunk, name);
    if (pending === undefined) return;
    stream.pause();
    heldBack++;
    void pending.then(() => {
      heldBack--;
      stream.resume();
    });
  }

  return {
    /**
     * Waits until the streams end or, if a background process holds them open, are silent for
     * `quietMs`; at most `maxMs`. Later output is read and discarded, because closing the pipe would
     * kill a background server at its next log line.
     */
    async drain(quietMs: number, maxMs: number): Promise<void> {
      const deadline = performance.now() + maxMs;
      // Output that a slow disk held back must still be read, unlike that of a noisy background process.
      while (openCount > 0 && (heldBack > 0 || performance.now() < deadline)) {
        const seen = chunkCount;
        await within(quietMs, allClosed);
        // A timer may fire before a readable pipe is polled; one turn of the event loop rules that out.
        await new Promise((resolve) => setImmediate(resolve));
        if (chunkCount === seen && heldBack === 0) break;
      }
      isDiscarding = true;
      for (const stream of streams) {
        stream.resume();
        if ("unref" in stream && typeof stream.unref === "function") stream.unref();
      }
    },
  };
}
