import type { Readable } from "node:stream";
import { within } from "../base/within.ts";

export type OutputStream = "stdout" | "stderr";

/** Takes a chunk; a returned promise holds the stream back until it resolves. Must not fail. */
export type OutputSink = (chunk: Buffer, stream: OutputStream) => Promise<void> | undefined;

/** Moves a child's output to a sink at the sink's pace. */
export class OutputPump {
  readonly #sink: OutputSink;
  readonly #streams: Readable[] = [];
  readonly #allClosed: Promise<void>;
  #resolveAllClosed: () => void = () => {};
  #chunkCount = 0;
  #heldBack = 0;
  #isDiscarding = false;
  #openCount = 0;

  constructor(stdout: Readable, stderr: Readable, sink: OutputSink) {
    this.#sink = sink;
    this.#allClosed = new Promise((resolve) => {
      this.#resolveAllClosed = resolve;
    });
    this.#attach(stdout, "stdout");
    this.#attach(stderr, "stderr");
  }

  /**
   * Waits until the streams end or, if a background process holds them open, are silent for
   * `quietMs`; at most `maxMs`. Later output is read and discarded, because closing the pipe would
   * kill a background server at its next log line.
   */
  async drain(quietMs: number, maxMs: number): Promise<void> {
    const deadline = performance.now() + maxMs;
    // Output held back by a slow disk must still be read, unlike that of a noisy background
    // process.
    while (this.#openCount > 0 && (this.#heldBack > 0 || performance.now() < deadline)) {
      const seen = this.#chunkCount;
      await within(quietMs, this.#allClosed);
      // A timer may fire before a readable pipe is polled; one turn of the event loop makes sure.
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#chunkCount === seen && this.#heldBack === 0) break;
    }
    this.#isDiscarding = true;
    for (const stream of this.#streams) {
      stream.resume();
      if ("unref" in stream && typeof stream.unref === "function") stream.unref();
    }
  }

  #attach(stream: Readable, name: OutputStream): void {
    this.#streams.push(stream);
    this.#openCount++;
    stream.on("data", (chunk: Buffer) => this.#take(stream, name, chunk));
    stream.on("error", () => {});
    stream.on("close", () => {
      this.#openCount--;
      if (this.#openCount === 0) this.#resolveAllClosed();
    });
  }

  #take(stream: Readable, name: OutputStream, chunk: Buffer): void {
    if (this.#isDiscarding) return;
    this.#chunkCount++;
    const pending = this.#sink(chunk, name);
    if (pending === undefined) return;
    stream.pause();
    this.#heldBack++;
    void pending.then(() => {
      this.#heldBack--;
      stream.resume();
    });
  }
}
