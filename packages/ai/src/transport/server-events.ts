import { errorOfBody } from "../error-body.ts";
import { LineCutter } from "./line-cutter.ts";
import { type ByteSource, nextPiece, type Read } from "./reply.ts";

export interface ServerEvent {
  /** Empty for an event without a name. */
  readonly event: string;
  readonly data: string;
}

/** The result for an event: a value, nothing, or the end of the reply. */
export type ReadEvent<Value> = (event: ServerEvent) => Value | undefined | typeof endOfReply;

/** Returned for the event after which a reply contains nothing more. */
export const endOfReply: unique symbol = Symbol("end of reply");

/**
 * The maximum time that events of one burst may take before commands are checked again. A fast server fills
 * the socket faster than it is read (row "`get_state` under a full-speed stream").
 */
const sliceMs = 3;

/** If a read waited at least this long, the event loop has turned. */
const turnMs = 0.2;

/** How much is read of a body that is not an event stream; an error is short. */
const maxOtherLength = 64 * 1024;

/** How long to wait for the end of the body after its last event. */
const restMs = 1_000;

/**
 * The events of a reply, read from its bytes. `take` returns what has arrived without a promise, so that a
 * burst costs one promise per piece instead of several per event (row "text stream of 16 000 deltas").
 */
export class ServerEvents<Value> implements AsyncIterableIterator<Value, undefined> {
  readonly #source: ByteSource;
  readonly #read: ReadEvent<Value>;
  readonly #lines = new LineCutter();
  #event = "";
  #data: string | undefined;
  #sliceBegan = performance.now();
  #askedAt = 0;
  /** The callbacks of the reader that waits for a value. */
  #resolve: Parameters<Read<Value>>[0] = () => undefined;
  #reject: Parameters<Read<Value>>[1] = () => undefined;
  /** Received text that belongs to no event. */
  #other: string | undefined;
  #isStream = false;
  /** Whether all bytes have arrived. */
  #isWhole = false;
  #hasEnded = false;

  constructor(source: ByteSource, read: ReadEvent<Value>) {
    this.#source = source;
    this.#read = read;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next value if its event has arrived, unless it is time to check for commands. */
  take(): Value | undefined {
    // Reads the clock once per event instead of once per line (rows `many-sessions`).
    let isOver = this.#lines.mayHaveLine && this.#isSliceOver();
    while (!this.#hasEnded && this.#lines.mayHaveLine && !isOver) {
      const line = this.#lines.next();
      if (line !== "") {
        this.#note(line ?? "");
        continue;
      }
      const value = this.#takeEvent();
      if (value !== undefined) return value;
      isOver = this.#isSliceOver();
    }
    return undefined;
  }

  next(): Promise<IteratorResult<Value, undefined>> {
    return new Promise(this.read);
  }

  /** {@link next} without a promise. */
  readonly read: Read<Value> = (resolve, reject) => {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#step();
  };

  /** Leaves the rest unread and closes the connection. */
  async return(): Promise<IteratorResult<Value, undefined>> {
    if (!this.#hasEnded) {
      this.#hasEnded = true;
      await this.#source.return();
    }
    return { done: true, value: undefined };
  }

  #step(): void {
    try {
      const value = this.take();
      if (value !== undefined) this.#resolve({ done: false, value });
      else if (this.#hasEnded) this.#resolve({ done: true, value: undefined });
      else if (this.#lines.mayHaveLine) setImmediate(this.#turned);
      else if (this.#isWhole) this.#end();
      else {
        this.#askedAt = performance.now();
        this.#source.read(this.#arrived, this.#reject);
      }
    } catch (error) {
      this.#reject(error);
    }
  }

  readonly #turned = (): void => {
    this.#sliceBegan = performance.now();
    this.#step();
  };

  readonly #arrived = (step: IteratorResult<Uint8Array, undefined>): void => {
    this.#add(step);
    this.#step();
  };

  #takeEvent(): Value | undefined {
    const [event, data] = [this.#event, this.#data];
    this.#event = "";
    this.#data = undefined;
    if (data === undefined && event === "") return undefined;
    const value = this.#read({ event, data: data ?? "" });
    if (value !== endOfReply) return value as Value | undefined;
    this.#hasEnded = true;
    this.#readRest();
    return undefined;
  }

  #note(line: string): void {
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    if (name !== "data" && name !== "event") {
      this.#noteOther(line, name);
      return;
    }
    this.#isStream = true;
    this.#other = undefined;
    const start = colon === -1 ? line.length : colon + (line[colon + 1] === " " ? 2 : 1);
    const value = line.slice(start);
    if (name === "event") this.#event = value;
    else this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
  }

  /**
   * Unknown fields within events are ignored. Before the first event, they indicate another kind of body; an
   * object does so anywhere, because some servers end a stream with their error.
   */
  #noteOther(line: string, name: string): void {
    if (name === "" || name === "id" || name === "retry") return;
    if (this.#isStream && this.#other === undefined && !line.startsWith("{")) return;
    this.#other = `${this.#other ?? ""}${line}\n`.slice(0, maxOtherLength);
  }

  /** @throws {ProviderError} if the body was not an event stream */
  #end(): void {
    this.#hasEnded = true;
    if (this.#other !== undefined) throw errorOfBody(this.#other);
    this.#resolve({ done: true, value: undefined });
  }

  #isSliceOver(): boolean {
    return performance.now() - this.#sliceBegan > sliceMs;
  }

  #add({ done, value }: IteratorResult<Uint8Array, undefined>): void {
    const now = performance.now();
    if (now - this.#askedAt > turnMs) this.#sliceBegan = now;
    if (!done) {
      this.#lines.push(value);
      return;
    }
    // Some servers omit the empty line after the last event.
    this.#lines.end();
    this.#isWhole = true;
  }

  /** Reads the body to its end, so that the next request can use its connection. */
  #readRest(): void {
    const giveUp = (): void => void this.#source.return().catch(() => undefined);
    const timer = setTimeout(giveUp, restMs);
    timer.unref();
    const read = async (): Promise<void> => {
      while (!(await nextPiece(this.#source)).done);
    };
    // No caller waits for it or could be notified of a failure.
    read().then(
      () => clearTimeout(timer),
      () => clearTimeout(timer),
    );
  }
}
