import { ProviderError } from "../errors.ts";
import type { ByteSource } from "../transport/reply.ts";

/** A prelude of twelve bytes, and a checksum of four at the end. */
const leastBytes = 16;
/** Real ones have some thousand bytes. Without a limit, twelve stray bytes could ask for gigabytes. */
const mostBytes = 24 * 1024 * 1024;
const lengthBytes = 4;

/**
 * The messages of an event stream, each whole and unread. The SDK's own cutter takes any length for
 * true, and reads on when nobody listens any more.
 */
export async function* cutFrames(source: ByteSource): AsyncGenerator<Uint8Array, void> {
  let isDone = false;
  const frames = new FrameCutter();
  try {
    for (;;) {
      const { done, value } = await source.next();
      isDone = done === true;
      if (done) break;
      yield* frames.push(value);
    }
  } finally {
    if (!isDone) await source.return();
  }
  if (!frames.isEmpty) throw broken("The connection ended in the middle of an event");
}

class FrameCutter {
  #pieces: Uint8Array[] = [];
  #size = 0;
  /** How many bytes are needed before anything can be done. */
  #wanted = lengthBytes;

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** Joins pieces only once a message is whole, so that a large one costs no more per byte. */
  *push(piece: Uint8Array): Generator<Uint8Array> {
    this.#pieces.push(piece);
    this.#size += piece.length;
    if (this.#size < this.#wanted) return;
    let held = Buffer.concat(this.#pieces);
    this.#wanted = wantedOf(held);
    while (held.length >= this.#wanted) {
      if (this.#wanted > lengthBytes) {
        yield held.subarray(0, this.#wanted);
        held = held.subarray(this.#wanted);
      }
      this.#wanted = wantedOf(held);
    }
    this.#pieces = [held];
    this.#size = held.length;
  }
}

/** The size of the first message, or of what says its size. */
function wantedOf(held: Buffer): number {
  if (held.length < lengthBytes) return lengthBytes;
  const size = held.readUInt32BE(0);
  if (size >= leastBytes && size <= mostBytes) return size;
  throw broken("The server sent something that is not an event");
}

function broken(message: string): ProviderError {
  return new ProviderError({ code: "network", message });
}
