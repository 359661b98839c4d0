import type { HeaderList } from "./header-list.ts";

/** The bytes of a reply, in the pieces they arrive in; `return` gives up the rest. */
export interface ByteSource {
  next(): Promise<IteratorResult<Uint8Array, undefined>>;
  return(): Promise<unknown>;
}

export interface ReplyInit {
  readonly status: number;
  readonly statusText: string;
  readonly headers: HeaderList;
  readonly body: ByteSource;
}

/**
 * A reply with what the vendors' SDKs read of a `Response`. Node's own streams pass each piece through a
 * dozen promises; here it is one (rows "text stream", "one delta a millisecond").
 */
export function makeResponse({ status, statusText, headers, body }: ReplyInit): Response {
  const text = async (): Promise<string> => {
    const decoder = new TextDecoder();
    let read = "";
    for (let step = await body.next(); !step.done; step = await body.next()) {
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
  const reader = body.getReader();
  return {
    next: () => reader.read() as ReturnType<ByteSource["next"]>,
    return: () => reader.cancel(),
  };
}

/** A body of one piece. */
export function only(piece: Uint8Array): ByteSource {
  const pieces = [piece].filter(({ length }) => length > 0).values();
  return {
    next: async () => {
      const { done, value } = pieces.next();
      return done ? { done, value: undefined } : { done: false, value };
    },
    return: async () => void [...pieces],
  };
}

/** The part of a `ReadableStream` that is used: it is read to its end or cancelled. */
function streamOf(source: ByteSource): object {
  const cancel = (): Promise<unknown> => source.return();
  const next = (): ReturnType<ByteSource["next"]> => source.next();
  const leave = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    await cancel();
    return { done: true, value: undefined };
  };
  return {
    cancel,
    getReader: () => ({ read: next, cancel, releaseLock: () => undefined }),
    [Symbol.asyncIterator]: () => ({ next, return: leave }),
  };
}
