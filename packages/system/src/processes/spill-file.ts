import { type FileHandle, open } from "node:fs/promises";
import type { OutputFile } from "./output-file.ts";

/** Bytes that may wait for the disk before the writer is held back. */
const highWaterBytes = 256 * 1024;

/** A private file on this machine (mode 0600) that accepts output at the disk's pace. */
export class SpillFile implements OutputFile {
  readonly path: string;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  #handle: FileHandle | undefined;
  #failure: Error | undefined;

  constructor(path: string) {
    this.path = path;
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  write(chunk: Buffer): Promise<void> | undefined {
    if (this.#failure !== undefined) return undefined;
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    this.#writing ??= this.#writeWaiting();
    return this.#waitingBytes > highWaterBytes ? this.#writing : undefined;
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#handle?.close();
    this.#handle = undefined;
  }

  async #writeWaiting(): Promise<void> {
    try {
      this.#handle ??= await open(this.path, "wx", 0o600);
      while (this.#waiting.length > 0) {
        const chunks = this.#waiting;
        this.#waiting = [];
        this.#waitingBytes = 0;
        await writeAll(this.#handle, chunks);
        chunks.forEach(release);
      }
    } catch (error) {
      this.#failure = error instanceof Error ? error : new TypeError(String(error));
      this.#waiting = [];
      this.#waitingBytes = 0;
    } finally {
      this.#writing = undefined;
    }
  }
}

/** Frees a chunk's memory; the garbage collector would let 64 MiB pile up, because chunks are not on the heap. */
function release({ buffer, byteLength }: Buffer): void {
  const isWhole = byteLength === buffer.byteLength;
  if (isWhole && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

// Writes the chunks without joining them: at the pace of a pipe, the copies would take most of the memory.
async function writeAll(handle: FileHandle, chunks: readonly Buffer[]): Promise<void> {
  let { bytesWritten } = await handle.writev(chunks);
  for (const chunk of chunks) {
    if (bytesWritten < chunk.length) await handle.writeFile(chunk.subarray(bytesWritten));
    bytesWritten = Math.max(0, bytesWritten - chunk.length);
  }
}
