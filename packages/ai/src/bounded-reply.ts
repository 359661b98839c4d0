import { ProviderError } from "./errors.ts";
import { HeaderList } from "./transport/header-list.ts";
import { type ByteSource, bytesOf, makeResponse, nextPiece, only } from "./transport/reply.ts";
import { refuseWebPage } from "./web-page.ts";

type Fetch = typeof globalThis.fetch;

/** Limits on the bytes and time for reading what a server sends; all sizes count after decompression. */
export interface ReplyLimits {
  /** How much of an error body is kept. Vendors' errors have hundreds of bytes, proxies' pages a few thousand. */
  readonly errorBytes: number;
  /** How long an error body is read, in ms. */
  readonly errorMs: number;
  /** The maximum of one event. The largest real events contain images (20 MB as base64) or repeat a whole reply. */
  readonly eventBytes: number;
  /** The maximum of a stream. A million tokens, each in its own event, take about 300 MB. */
  readonly streamBytes: number;
}

const defaults: ReplyLimits = {
  errorBytes: 64 * 1024,
  errorMs: 5_000,
  eventBytes: 64 * 1024 * 1024,
  streamBytes: 1024 * 1024 * 1024,
};

/**
 * Wraps `fetch` so that no server can make a client read or keep unlimited data. Error bodies are truncated;
 * streams with an oversized event and web pages fail. Passes on complete events, because the vendors' SDKs
 * search all buffered bytes of an event again with each further piece.
 */
export function boundReplies(fetch: Fetch, given: Partial<ReplyLimits> = {}): Fetch {
  const limits = { ...defaults, ...given };
  return async (input, init) => {
    const response = await fetch(input, init);
    const { status, statusText, ok } = response;
    if (response.body === null) return response;
    const headers = new HeaderList(response.headers);
    // These headers describe the bytes before decompression.
    for (const name of ["content-encoding", "content-length"]) headers.delete(name);
    const bytes = bytesOf(response.body);
    const body = ok
      ? createWholeEvents(await refuseWebPage(bytes, headers), limits)
      : only(await beginningOf(bytes, limits));
    return makeResponse({ status, statusText, headers, body });
  };
}

/** The part of an error body that arrives in time; a broken connection truncates it. */
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
      const { done, value } = await nextPiece(source);
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

/** Passes on events once they are complete. */
function createWholeEvents(source: ByteSource, limits: ReplyLimits): ByteSource {
  let isDone = false;
  const events = createEventCutter(limits);
  let resolve: Parameters<ByteSource["read"]>[0];
  let reject: Parameters<ByteSource["read"]>[1];

  function pass({ done, value }: IteratorResult<Uint8Array, undefined>): void {
    isDone = done === true;
    let whole: Uint8Array;
    try {
      whole = done ? events.rest() : events.take(value);
    } catch (error) {
      isDone = true;
      void source.return().catch(() => undefined);
      reject(error);
      return;
    }
    if (whole.length > 0) resolve({ done: false, value: whole });
    else read(resolve, reject);
  }

  function read(...asked: Parameters<ByteSource["read"]>): void {
    [resolve, reject] = asked;
    if (isDone) resolve({ done: true, value: undefined });
    else source.read(pass, reject);
  }

  return { read, return: () => source.return() };
}

const lineFeed = 10;
const carriageReturn = 13;

/** Collects bytes until an event is complete. */
function createEventCutter(limits: ReplyLimits) {
  let pieces: Uint8Array[] = [];
  let held = 0;
  let total = 0;
  let isAtLineStart = true;
  let isAfterReturn = false;
  /** Whether the last complete line was empty. */
  let hasEnded = false;

  function hold(piece: Uint8Array): void {
    if (piece.length === 0) return;
    pieces.push(piece);
    held += piece.length;
  }

  /** The end of the last empty line in the piece; 0 if there is none. Lines end as in SSE: LF, CR or both. */
  function endOfEvents(piece: Uint8Array): number {
    const mayHaveReturns = isAfterReturn || piece.includes(carriageReturn);
    return mayHaveReturns ? endWithReturns(piece) : endWithLineFeeds(piece);
  }

  /** Searches backwards, because most pieces end with an empty line. */
  function endWithLineFeeds(piece: Uint8Array): number {
    let at = piece.length - 1;
    const endsAtLineStart = at < 0 ? isAtLineStart : piece[at] === lineFeed;
    while (at > 0 && !(piece[at] === lineFeed && piece[at - 1] === lineFeed)) at--;
    const hasEmptyLine = at > 0 || (isAtLineStart && piece[0] === lineFeed);
    isAtLineStart = endsAtLineStart;
    return hasEmptyLine ? at + 1 : 0;
  }

  function endWithReturns(piece: Uint8Array): number {
    let end = 0;
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at];
      if (byte === lineFeed && isAfterReturn) {
        isAfterReturn = false;
        if (hasEnded) end = at + 1;
        continue;
      }
      isAfterReturn = byte === carriageReturn;
      if (byte === lineFeed || byte === carriageReturn) {
        hasEnded = isAtLineStart;
        if (hasEnded) end = at + 1;
        isAtLineStart = true;
      } else isAtLineStart = false;
    }
    return end;
  }

  return {
    /** The events completed by this piece, as one chunk of bytes. */
    take(piece: Uint8Array): Uint8Array {
      total += piece.length;
      const { streamBytes, eventBytes } = limits;
      if (total > streamBytes) throw tooLarge("a reply", streamBytes);
      const end = endOfEvents(piece);
      if (end === 0) {
        hold(piece);
        if (held > eventBytes) throw tooLarge("an event", eventBytes);
        return join([]);
      }
      // Usually, a piece ends with an event and nothing is buffered.
      if (held === 0 && end === piece.length) return piece;
      const last = piece.subarray(0, end);
      const whole = held === 0 ? last : join([...pieces, last]);
      pieces = [];
      held = 0;
      hold(piece.subarray(end));
      return whole;
    },
    /** The remaining bytes when the body ends. */
    rest(): Uint8Array {
      return join(pieces);
    },
  };
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
