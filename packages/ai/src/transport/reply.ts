import type { HeaderList } from "./header-list.ts";

/** Requests the next value; calls one of the two callbacks once, possibly before it returns. */
export type Read<Value> = (
  resolve: (step: IteratorResult<Value, undefined>) => void,
  reject: (reason: unknown) => void,
) => void;

/**
 * The bytes of a reply, in the pieces in which they arrive; `return` discards the rest. Uses callbacks, because each
 * layer would otherwise create a promise per piece (rows `many-sessions`). Only one piece may be requested at a time.
 */
export interface ByteSource {
  readonly read: Read<Uint8Array>;
  return(): Promise<unknown>;
}

/** The next piece of a source, as a promise. */
export function nextPiece({ read }: ByteSource): Promise<IteratorResult<Uint8Array, undefined>> {
  return new Promise(read);
}

export interface ReplyInit {
  readonly status: number;
  readonly statusText: string;
  readonly headers: HeaderList;
  readonly body: ByteSource;
}

/** In the body of a reply created here: its source. */
const ownSource: unique symbol = Symbol("source");

/**
 * A reply with the parts of a `Response` that the vendors' SDKs use. Node's own streams need a dozen promises
 * per piece; this needs at most one (rows "text stream", "one delta a millisecond").
 */
export function makeResponse({ status, statusText, headers, body }: ReplyInit): Response {
  const text = async (): Promise<string> => {
    const decoder = new TextDecoder();
    let read = "";
    for (let step = await nextPiece(body); !step.done; step = await nextPiece(body)) {
      read += decoder.decode(step.value, { stream: true });
    }
    return read + decoder.decode();
  };
  const reply = {
    status,
    statusText,
    headers,
    ok: status >= 200 && status <= 299,
    body: streamOf(body),
    text,
    json: async (): Promise<unknown> => JSON.parse(await text()),
  };
  // Nothing else of it is used, and only by code that the SDKs contain.
  return reply as unknown as Response;
}

/** The bytes of a reply's body, from any kind of stream. */
export function bytesOf(body: ReadableStream<Uint8Array>): ByteSource {
  const { [ownSource]: own } = body as { readonly [ownSource]?: ByteSource };
  if (own !== undefined) return own;
  const reader = body.getReader();
  return {
    read(resolve, reject) {
      const reading = reader.read() as Promise<IteratorResult<Uint8Array, undefined>>;
      reading.then(resolve, reject);
    },
    return: () => reader.cancel(),
  };
}

/** A body with a single piece. */
export function only(piece: Uint8Array): ByteSource {
  const pieces = [piece].filter(({ length }) => length > 0).values();
  return {
    read(resolve) {
      const { done, value } = pieces.next();
      resolve(done ? { done, value: undefined } : { done: false, value });
    },
    return: async () => void [...pieces],
  };
}

/** The used part of a `ReadableStream`: it is read to its end or cancelled. */
function streamOf(source: ByteSource): object {
  const cancel = (): Promise<unknown> => source.return();
  const next = (): ReturnType<typeof nextPiece> => nextPiece(source);
  const leave = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    await cancel();
    return { done: true, value: undefined };
  };
  return {
    [ownSource]: source,
    cancel,
    getReader: () => ({ read: next, cancel, releaseLock: () => undefined }),
    [Symbol.asyncIterator]: () => ({ next, return: leave }),
  };
}
