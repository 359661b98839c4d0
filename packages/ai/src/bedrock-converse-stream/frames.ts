import { errorOfBody } from "../error-body.ts";
import { ProviderError } from "../errors.ts";
import { type ByteSource, nextPiece } from "../transport/reply.ts";

/** A prelude of twelve bytes and a checksum of four bytes at the end. */
const leastBytes = 16;
/** Real messages have a few thousand bytes. Without a limit, twelve stray bytes could request gigabytes. */
const mostBytes = 24 * 1024 * 1024;
const lengthBytes = 4;
/** The smallest first byte of a text; the first byte of a message's size is smaller. */
const leastText = 0x09;
/** How much is read of a text sent instead of messages; error texts are short. */
const mostTextBytes = 64 * 1024;

/**
 * Splits an event stream into complete, undecoded messages. The SDK's own splitter trusts any length and
 * keeps reading when nobody consumes the messages.
 *
 * @throws {ProviderError} the error described by a text that the server sends instead of messages
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
  /** The number of bytes needed for the next step. */
  #wanted = 1;

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether the buffered bytes are a text instead of a message. */
  get isText(): boolean {
    return this.#wanted === Number.POSITIVE_INFINITY;
  }

  get text(): string {
    return Buffer.concat(this.#pieces).subarray(0, mostTextBytes).toString("utf8");
  }

  /** Joins pieces only when a message is complete, so that a large message costs no more per byte. */
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

/** The size of the first message, or of its size field; for a text, everything. */
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
