import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** From this number of replies on, a core that reads each delta by itself is half busy (rows `many-sessions`). */
const manyReplies = 100;

/** How long nothing is read after a read; shorter than what a reader of text notices as a pause. */
const restMs = 46;

/** Sockets that were read within this time are read again together. */
const togetherMs = 5;

/**
 * Lets the deltas of many replies gather, so that a host reads several of each at once: most of what a delta costs is
 * the same for a read of several. Of few replies, each delta is read when it arrives.
 */
export class ReadPace {
  readonly #sockets = new WeakMap<Socket, PacedSocket>();
  #replies = 0;
  #resting: PacedSocket[] = [];
  #restingSince = Number.NEGATIVE_INFINITY;

  /** Whether deltas gather now. */
  get gathers(): boolean {
    return this.#replies >= manyReplies;
  }

  /**
   * Counts a reply until it has ended.
   *
   * @returns a function to call after each piece of it, which returns whether to wait for more pieces of this read
   */
  follow(reply: IncomingMessage): () => boolean {
    const socket = this.#paced(reply.socket);
    this.#replies += 1;
    let hasEnded = false;
    const end = (): void => {
      if (hasEnded) return;
      hasEnded = true;
      this.#replies -= 1;
      // The next reply on this connection must not wait for the rest of this one.
      socket.wake();
    };
    reply.once("end", end).once("close", end);
    return () => {
      if (!this.gathers || hasEnded) return false;
      socket.rest();
      return true;
    };
  }

  /** A connection serves one reply after another. */
  #paced(socket: Socket): PacedSocket {
    let paced = this.#sockets.get(socket);
    if (paced === undefined) {
      paced = new PacedSocket(socket, (resting) => this.#rest(resting));
      this.#sockets.set(socket, paced);
    }
    return paced;
  }

  #rest(socket: PacedSocket): void {
    const now = performance.now();
    if (now - this.#restingSince > togetherMs) {
      this.#restingSince = now;
      const resting: PacedSocket[] = [];
      this.#resting = resting;
      setTimeout(() => {
        for (const each of resting) each.wake();
      }, restMs);
    }
    this.#resting.push(socket);
  }
}

/**
 * A socket that can rest after a read. Meanwhile its bytes stay in the kernel, so that they take one read, one call of
 * the HTTP parser, and so on. `pause` would not do: a paused stream reads on until its buffer is full.
 */
class PacedSocket {
  readonly #socket: Socket;
  readonly #onRest: (socket: PacedSocket) => void;
  readonly #push: Socket["push"];
  readonly #read: Socket["_read"];
  #restsNext = false;
  #isResting = false;
  #wasAsked = false;

  constructor(socket: Socket, onRest: (socket: PacedSocket) => void) {
    this.#socket = socket;
    this.#onRest = onRest;
    this.#push = socket.push;
    this.#read = socket._read;
    // What a stream defines for this: nothing is read after `push` returned false, until `_read` is called.
    socket.push = (piece, encoding) => this.#pushed(piece, encoding);
    socket._read = (size) => this.#asked(size);
  }

  /** Rests after the current read. */
  rest(): void {
    this.#restsNext = true;
  }

  /** Reads again, if it rests. */
  wake(): void {
    this.#isResting = false;
    if (!this.#wasAsked) return;
    this.#wasAsked = false;
    if (!this.#socket.destroyed) this.#read.call(this.#socket, 0);
  }

  #pushed(piece: unknown, encoding: BufferEncoding | undefined): boolean {
    const goesOn = this.#push.call(this.#socket, piece, encoding);
    if (!this.#restsNext) return goesOn;
    this.#restsNext = false;
    if (this.#isResting || piece === null) return goesOn;
    this.#isResting = true;
    this.#onRest(this);
    return false;
  }

  #asked(size: number): void {
    if (this.#isResting) this.#wasAsked = true;
    else this.#read.call(this.#socket, size);
  }
}
