import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";

/** Enough for the lines that a repair prompt shows. */
const KEPT_BYTES = 256 * 1024;

/** A command's output: complete in a file, and the end in memory. */
export class OutputFile {
  readonly #path: string;
  #stream: WriteStream | undefined;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #hasFailed = false;

  constructor(path: string) {
    this.#path = path;
  }

  write(chunk: Buffer): Promise<void> | undefined {
    this.#tail.push(chunk);
    this.#tailBytes += chunk.length;
    while (this.#tailBytes - (this.#tail[0]?.length ?? 0) > KEPT_BYTES) {
      this.#tailBytes -= this.#tail.shift()?.length ?? 0;
    }
    if (this.#hasFailed) return undefined;
    this.#stream ??= this.#open();
    if (this.#stream.write(chunk)) return undefined;
    return isReady(this.#stream);
  }

  /** Closes the file; without output there is no file. */
  async finish(): Promise<{ path: string | undefined; tail: string }> {
    const stream = this.#stream;
    if (stream !== undefined && !stream.closed) {
      stream.end();
      await once(stream, "close").catch(() => undefined);
    }
    const hasFile = stream !== undefined && !this.#hasFailed;
    const tail = Buffer.concat(this.#tail).toString("utf8");
    return { path: hasFile ? this.#path : undefined, tail };
  }

  #open(): WriteStream {
    const stream = createWriteStream(this.#path, { mode: 0o600 });
    // A full disk must not affect whether a check passes.
    stream.on("error", () => {
      this.#hasFailed = true;
    });
    return stream;
  }
}

/** Resolves once the stream drains or fails; removes its listeners. */
async function isReady(stream: WriteStream): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  const waits = ["drain", "close"].map((name) => once(stream, name, { signal }));
  await Promise.race(waits).catch(() => undefined);
  over.abort();
  await Promise.allSettled(waits);
}
