import { FlushClock } from "../../rpc/connection/flush-clock.ts";
import { type EncodedLine, type LineWriter, lineText } from "../../rpc/connection/line-writer.ts";

export interface LineOutput {
  /** Takes lines, each ending in a line feed; calls back once the operating system has accepted them. */
  write(text: string, onWritten: () => void): void;
}

export interface UnreadLimits {
  /** Bytes that the client did not ask for. */
  readonly events: number;
  /** Bytes of answers to its own commands. */
  readonly answers: number;
}

export const unreadLimits: UnreadLimits = {
  events: 16 * 1024 * 1024,
  answers: 128 * 1024 * 1024,
};

/**
 * Writes to a connection whose senders do not wait. If a reader leaves too much unread, the connection is
 * dropped, so that it neither delays other clients nor fills the memory.
 */
export class BoundedWriter implements LineWriter {
  readonly flushes: FlushClock = new FlushClock();
  readonly #output: LineOutput;
  readonly #limits: UnreadLimits;
  readonly #onOverflow: () => void;
  #lines: string[] = [];
  /** Bytes that are buffered but not yet handed over. */
  #gathered = { events: 0, answers: 0 };
  /** Bytes that the operating system has not accepted yet, including the buffered ones. */
  readonly #unread = { events: 0, answers: 0 };
  #isScheduled = false;
  #isClosed = false;
  #writing = 0;
  #onIdle: (() => void)[] = [];

  constructor(output: LineOutput, limits: UnreadLimits, onOverflow: () => void) {
    this.#output = output;
    this.#limits = limits;
    this.#onOverflow = onOverflow;
  }

  get isDrained(): boolean {
    return this.#writing === 0;
  }

  /** Whether the reader has left too much unread, not counting what it has had no chance to read. */
  get isOverLimit(): boolean {
    return (["events", "answers"] as const).some(
      (kind) => this.#unread[kind] - this.#gathered[kind] > this.#limits[kind],
    );
  }

  /** Senders do not wait for this connection. */
  whenDrained(): undefined {
    return undefined;
  }

  onDrain(listener: () => void): void {
    if (this.isDrained || this.#isClosed) listener();
    else this.#onIdle.push(listener);
  }

  write(encoded: EncodedLine, isAnswer = false): void {
    if (this.#isClosed) return;
    const line = lineText(encoded);
    const bytes = Buffer.byteLength(line);
    const kind = isAnswer ? "answers" : "events";
    if (this.isOverLimit) {
      this.#onOverflow();
      return;
    }
    this.#lines.push(line);
    this.#gathered[kind] += bytes;
    this.#unread[kind] += bytes;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.flush();
    });
  }

  flush(): void {
    if (this.#lines.length === 0 || this.#isClosed) return;
    const text = this.#lines.join("");
    const { events, answers } = this.#gathered;
    this.#lines = [];
    this.#gathered = { events: 0, answers: 0 };
    this.#writing += 1;
    this.#output.write(text, () => {
      this.#writing -= 1;
      this.#unread.events -= events;
      this.#unread.answers -= answers;
      if (this.#writing === 0) for (const listener of this.#onIdle.splice(0)) listener();
    });
  }

  /** Resolves once everything is handed over or the connection is gone. */
  async end(): Promise<void> {
    this.flush();
    if (!this.isDrained && !this.#isClosed) {
      await new Promise<void>((resolve) => this.#onIdle.push(resolve));
    }
  }

  /** The reader is gone: discards everything. */
  close(): void {
    this.#isClosed = true;
    this.#lines = [];
    for (const listener of this.#onIdle.splice(0)) listener();
  }
}
