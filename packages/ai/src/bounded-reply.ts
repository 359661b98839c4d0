import { ProviderError } from "./errors.ts";
import { HeaderList } from "./transport/header-list.ts";
import { type ByteSource, bytesOf, makeResponse, only } from "./transport/reply.ts";
import { refuseWebPage } from "./web-page.ts";

type Fetch = typeof globalThis.fetch;

/** Most bytes and longest time for reading what a server sends; all counted after decompression. */
export interface ReplyLimits {
  /** What is kept of an error's body. Vendors' errors have hundreds of bytes, proxies' pages some thousand. */
  readonly errorBytes: number;
  /** How long an error's body is read, in ms. */
  readonly errorMs: number;
  /**
   * One event of a stream. The largest real ones hold images (20 MB as base64) or a whole reply again.
   */
  readonly eventBytes: number;
  /** A whole stream. A million tokens, each an event of its own, have about 300 MB. */
  readonly streamBytes: number;
}

const defaults: ReplyLimits = {
  errorBytes: 64 * 1024,
  errorMs: 5_000,
  eventBytes: 64 * 1024 * 1024,
  streamBytes: 1024 * 1024 * 1024,
};

/**
 * Wraps `fetch` so that no server can make a client read or keep bytes without end: an error's body
 * is cut, a stream with a huge event fails, and so does a web page. Events are passed on whole, because the vendors' SDKs
 * search all they hold of an event again at each further piece of it.
 */
export function boundReplies(fetch: Fetch, given: Partial<ReplyLimits> = {}): Fetch {
  const limits = { ...defaults, ...given };
  return async (input, init) => {
    const response = await fetch(input, init);
    const { status, statusText, ok } = response;
    if (response.body === null) return response;
    const headers = new HeaderList(response.headers);
    // They describe the bytes before decompression.
    for (const name of ["content-encoding", "content-length"]) headers.delete(name);
    const bytes = bytesOf(response.body);
    const body = ok
      ? new WholeEvents(await refuseWebPage(bytes, headers), limits)
      : only(await beginningOf(bytes, limits));
    return makeResponse({ status, statusText, headers, body });
  };
}

/** As much of an error's body as comes in time; what a broken connection keeps back is missing. */
async function beginningOf(
  source: ByteSource,
  { errorBytes, errorMs }: ReplyLimits,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  const giveUp = (): void => void source.return().catch(() => undefined);
  const timer = setTimeout(giveUp, errorMs);
  try {
    while (size < errorBytes) {
      const { done, value } = await source.next();
      if (done) break;
      pieces.push(value.subarray(0, errorBytes - size));
      size += value.length;
    }
  } catch {
    // The status says what happened; the body only explains it.
  }
  clearTimeout(timer);
  giveUp();
  return join(pieces);
}

/** Passes on events once they are whole. */
class WholeEvents implements ByteSource {
  readonly #source: ByteSource;
  readonly #events: EventCutter;
  #isDone = false;

  constructor(source: ByteSource, limits: ReplyLimits) {
    this.#source = source;
    this.#events = new EventCutter(limits);
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    while (!this.#isDone) {
      const { done, value } = await this.#source.next();
      this.#isDone = done === true;
      const whole = done ? this.#events.rest() : this.#take(value);
      if (whole.length > 0) return { done: false, value: whole };
    }
    return { done: true, value: undefined };
  }

  return(): Promise<unknown> {
    return this.#source.return();
  }

  #take(piece: Uint8Array): Uint8Array {
    try {
      return this.#events.take(piece);
    } catch (error) {
      this.#isDone = true;
      void this.#source.return().catch(() => undefined);
      throw error;
    }
  }
}

const lineFeed = 10;
const carriageReturn = 13;

/** Gathers bytes until an event is whole. */
class EventCutter {
  readonly #limits: ReplyLimits;
  #pieces: Uint8Array[] = [];
  #held = 0;
  #total = 0;
  #isAtLineStart = true;
  #isAfterReturn = false;
  /** Whether the line that ended last was empty. */
  #hasEnded = false;

  constructor(limits: ReplyLimits) {
    this.#limits = limits;
  }

  /** The events that this piece completes, as one run of bytes. */
  take(piece: Uint8Array): Uint8Array {
    this.#total += piece.length;
    const { streamBytes, eventBytes } = this.#limits;
    if (this.#total > streamBytes) throw tooLarge("a reply", streamBytes);
    const end = this.#endOfEvents(piece);
    if (end === 0) {
      this.#hold(piece);
      if (this.#held > eventBytes) throw tooLarge("an event", eventBytes);
      return join([]);
    }
    const last = piece.subarray(0, end);
    const whole = this.#held === 0 ? last : join([...this.#pieces, last]);
    this.#pieces = [];
    this.#held = 0;
    this.#hold(piece.subarray(end));
    return whole;
  }

  /** The remaining bytes when the body ends. */
  rest(): Uint8Array {
    return join(this.#pieces);
  }

  #hold(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#held += piece.length;
  }

  /** Where the last empty line of the piece ends; 0 without one. Lines end as in SSE: LF, CR or both. */
  #endOfEvents(piece: Uint8Array): number {
    const mayHaveReturns = this.#isAfterReturn || piece.includes(carriageReturn);
    return mayHaveReturns ? this.#endWithReturns(piece) : this.#endWithLineFeeds(piece);
  }

  /** Searches from the end, where most pieces have their last empty line. */
  #endWithLineFeeds(piece: Uint8Array): number {
    let at = piece.length - 1;
    const endsAtLineStart = at < 0 ? this.#isAtLineStart : piece[at] === lineFeed;
    while (at > 0 && !(piece[at] === lineFeed && piece[at - 1] === lineFeed)) at--;
    const hasEmptyLine = at > 0 || (this.#isAtLineStart && piece[0] === lineFeed);
    this.#isAtLineStart = endsAtLineStart;
    return hasEmptyLine ? at + 1 : 0;
  }

  #endWithReturns(piece: Uint8Array): number {
    let end = 0;
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at];
      if (byte === lineFeed && this.#isAfterReturn) {
        this.#isAfterReturn = false;
        if (this.#hasEnded) end = at + 1;
        continue;
      }
      this.#isAfterReturn = byte === carriageReturn;
      if (byte === lineFeed || byte === carriageReturn) {
        this.#hasEnded = this.#isAtLineStart;
        if (this.#hasEnded) end = at + 1;
        this.#isAtLineStart = true;
      } else this.#isAtLineStart = false;
    }
    return end;
  }
}

function join(pieces: readonly Uint8Array[]): Uint8Array {
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function tooLarge(what: string, limit: number): ProviderError {
  const megabytes = limit / (1024 * 1024);
  return new ProviderError({
    code: "unknown",
    message: `The server sent ${what} of more than ${megabytes} MiB`,
  });
}
