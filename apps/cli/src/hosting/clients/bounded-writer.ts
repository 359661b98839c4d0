import { FlushClock } from "../../rpc/connection/flush-clock.ts";
import { type EncodedLine, type LineWriter, lineText } from "../../rpc/connection/line-writer.ts";

export interface LineOutput {
  /** Takes lines, each ending in a line feed; calls back once the operating system has them. */
  write(text: string, onWritten: () => void): void;
}

export interface UnreadLimits {
  /** Bytes of what it did not ask for. */
  readonly events: number;
  /** Bytes of answers to its own commands. */
  readonly answers: number;
}

export const unreadLimits: UnreadLimits = {
  events: 16 * 1024 * 1024,
  answers: 128 * 1024 * 1024,
};

/**
 * Writes to a connection that nobody waits for: one that leaves too much unread is given up, so that it
 * neither holds other clients back nor fills the memory.
 */
export class BoundedWriter implements LineWriter {
  readonly flushes: FlushClock = new FlushClock();
  readonly #output: LineOutput;
  readonly #limits: UnreadLimits;
  readonly #onOverflow: () => void;
  #lines: string[] = [];
  /** Bytes that were gathered and not handed over. */
  #gathered = { events: 0, answers: 0 };
  /** Bytes that the operating system has not taken, the gathered ones included. */
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

  /** Whether the client left too much unread; what it has had no chance to read does not count. */
  get isOverLimit(): boolean {
    return (["events", "answers"] as const).some(
      (kind) => this.#unread[kind] - this.#gathered[kind] > this.#limits[kind],
    );
  }

  /** No sender waits for this connection. */
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

  /** Fulfilled once everything was handed over, or the connection is gone. */
  async end(): Promise<void> {
    this.flush();
    if (!this.isDrained && !this.#isClosed) {
      await new Promise<void>((resolve) => this.#onIdle.push(resolve));
    }
  }

  /** The reader is gone: drops everything. */
  close(): void {
    this.#isClosed = true;
    this.#lines = [];
    for (const listener of this.#onIdle.splice(0)) listener();
  }
}
