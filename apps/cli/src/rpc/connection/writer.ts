import type { FrameOutput } from "../../process/output.ts";
import { FlushClock } from "./flush-clock.ts";
import type { EncodedLine, LineWriter } from "./line-writer.ts";

/** The maximum that is buffered before a write, so that a slow reader is noticed in time. */
const MAX_GATHERED_CHARACTERS = 256 * 1024;

/** Larger pieces are written separately instead of being copied into a joint write. */
const MAX_JOINED_CHARACTERS = 64 * 1024;

/**
 * The only writer of frames. Keeps their order, combines many in one system call, and returns a promise to
 * senders that should wait while the reader is behind.
 */
export class FrameWriter implements LineWriter {
  readonly flushes: FlushClock = new FlushClock();
  readonly #output: FrameOutput;
  #buffer: (string | Uint8Array)[] = [];
  #gathered = 0;
  #isScheduled = false;
  #isHeld = false;
  #isClosed = false;
  #letsWait = true;
  #drain: PromiseWithResolvers<void> | undefined;

  constructor(output: FrameOutput) {
    this.#output = output;
    output.onClosed(() => this.close());
  }

  /** Whether the reader has accepted everything that was handed over. */
  get isDrained(): boolean {
    return this.#drain === undefined;
  }

  /** Queues a line, which must end in a line feed; returns a promise while the reader is behind. */
  write(line: EncodedLine): void | Promise<void> {
    if (this.#isClosed) return;
    if (typeof line === "string") this.#gather(line);
    else for (const piece of line) this.#gather(piece);
    if (this.#gathered > MAX_GATHERED_CHARACTERS) {
      this.flush();
    } else if (!this.#isScheduled && !this.#isHeld) {
      this.#isScheduled = true;
      // After this turn of the event loop, so that the answers to one network chunk are sent in one write.
      setImmediate(() => {
        this.#isScheduled = false;
        this.flush();
      });
    }
    return this.whenDrained();
  }

  /** Buffers lines until `flush`, which the caller must call in this turn of the event loop. */
  hold(): void {
    this.#isHeld = true;
  }

  /** A promise for senders while the reader is behind; undefined when nobody should wait. */
  whenDrained(): void | Promise<void> {
    return this.#letsWait ? this.#drain?.promise : undefined;
  }

  /** From now on, makes no sender wait, so that a stuck reader does not delay the shutdown. */
  stopWaiting(): void {
    this.#letsWait = false;
    this.#drain?.resolve();
  }

  /** Calls the listener once the reader has caught up, or at once if it has. */
  onDrain(listener: () => void): void {
    if (this.#drain === undefined) listener();
    else void this.#drain.promise.then(listener);
  }

  /** Resolves when everything queued was handed to the operating system. */
  async end(): Promise<void> {
    this.flush();
    if (this.#isClosed) return;
    await new Promise<void>((resolve) => {
      this.#output.write("", resolve);
    });
  }

  /** The reader is gone: discards the queue and makes no sender wait any longer. */
  close(): void {
    this.#isClosed = true;
    this.#buffer = [];
    this.#drain?.resolve();
    this.#drain = undefined;
  }

  /** Hands over the buffered lines, for callers that add no more in this turn. */
  flush(): void {
    this.#isHeld = false;
    if (this.#buffer.length === 0 || this.#isClosed) return;
    const pieces = this.#buffer;
    this.#buffer = [];
    this.#gathered = 0;
    let isTaken = true;
    for (const piece of withSmallJoined(pieces)) isTaken = this.#output.write(piece);
    if (isTaken || this.#drain !== undefined) return;
    const drain = Promise.withResolvers<void>();
    this.#drain = drain;
    this.#output.onDrain(() => {
      if (this.#drain === drain) this.#drain = undefined;
      drain.resolve();
    });
  }

  #gather(piece: string | Uint8Array): void {
    this.#buffer.push(piece);
    this.#gathered += piece.length;
  }
}

/** Each write is a system call and wakes the reader, so small pieces are joined. */
function withSmallJoined(
  pieces: readonly (string | Uint8Array)[],
): readonly (string | Uint8Array)[] {
  if (pieces.every((piece) => typeof piece === "string")) return [pieces.join("")];
  const joined: (string | Uint8Array)[] = [];
  let run: (string | Uint8Array)[] = [];
  let size = 0;
  const endRun = () => {
    const [first] = run;
    if (run.length > 1) joined.push(Buffer.concat(run.map(bytesOf)));
    else if (first !== undefined) joined.push(first);
    run = [];
    size = 0;
  };
  for (const piece of pieces) {
    if (size + piece.length > MAX_JOINED_CHARACTERS) endRun();
    run.push(piece);
    size += piece.length;
  }
  endRun();
  return joined;
}

function bytesOf(piece: string | Uint8Array): Uint8Array {
  return typeof piece === "string" ? Buffer.from(piece) : piece;
}
