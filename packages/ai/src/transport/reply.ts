import type { HeaderList } from "./header-list.ts";

/** Asks for the next value; one of the two is called once, maybe before this returns. */
export type Read<Value> = (
  resolve: (step: IteratorResult<Value, undefined>) => void,
  reject: (reason: unknown) => void,
) => void;

/**
 * The bytes of a reply, in the pieces they arrive in; `return` gives up the rest. Without promises, of which
 * each layer would make one for each piece (rows `many-sessions`). One piece is asked for at a time.
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

/** In the body of a reply that was made here: its source. */
const ownSource: unique symbol = Symbol("source");

/**
 * A reply with what the vendors' SDKs read of a `Response`. Node's own streams pass each piece through a
 * dozen promises; here it is one at most (rows "text stream", "one delta a millisecond").
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
  // No more than this is used of it, and only by code that the SDKs contain.
  return reply as unknown as Response;
}

/** The bytes of a reply's body, however it came. */
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

/** A body of one piece. */
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

/** The part of a `ReadableStream` that is used: it is read to its end or cancelled. */
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
