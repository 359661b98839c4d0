import { errorOfBody } from "../error-body.ts";
import { ProviderError } from "../errors.ts";
import { type ByteSource, nextPiece } from "../transport/reply.ts";

/** A prelude of twelve bytes, and a checksum of four at the end. */
const leastBytes = 16;
/** Real ones have some thousand bytes. Without a limit, twelve stray bytes could ask for gigabytes. */
const mostBytes = 24 * 1024 * 1024;
const lengthBytes = 4;
/** The least byte that a text begins with; the first of a message's size is smaller. */
const leastText = 0x09;
/** How much is read of a text that came instead of messages: an error is short. */
const mostTextBytes = 64 * 1024;

/**
 * The messages of an event stream, each whole and unread. The SDK's own cutter takes any length for
 * true, and reads on when nobody listens any more.
 *
 * @throws {ProviderError} what a text says that comes instead of a message
 */
export async function* cutFrames(source: ByteSource): AsyncGenerator<Uint8Array, void> {
  let isDone = false;
  const frames = new FrameCutter();
  try {
    for (;;) {
      const { done, value } = await nextPiece(source);
      isDone = done === true;
      if (done) break;
      yield* frames.push(value);
      if (frames.isText && frames.size >= mostTextBytes) break;
    }
  } finally {
    if (!isDone) await source.return();
  }
  if (frames.isText) throw errorOfBody(frames.text);
  if (!frames.isEmpty) throw broken("The connection ended in the middle of an event");
}

class FrameCutter {
  #pieces: Uint8Array[] = [];
  #size = 0;
  /** How many bytes are needed before anything can be done. */
  #wanted = 1;

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether what came last is a text, and no message. */
  get isText(): boolean {
    return this.#wanted === Number.POSITIVE_INFINITY;
  }

  get text(): string {
    return Buffer.concat(this.#pieces).subarray(0, mostTextBytes).toString("utf8");
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

/** The size of the first message, or of what says its size; of a text, all of it. */
function wantedOf(held: Buffer): number {
  const [first] = held;
  if (first === undefined) return 1;
  if (first >= leastText) return Number.POSITIVE_INFINITY;
  if (held.length < lengthBytes) return lengthBytes;
  const size = held.readUInt32BE(0);
  if (size >= leastBytes && size <= mostBytes) return size;
  throw broken("The server sent something that is not an event");
}

function broken(message: string): ProviderError {
  return new ProviderError({ code: "network", message });
}
