import { DEFAULT_MAX_LINE_BYTES } from "@tau-agent/rpc-protocol/plain";

type Fetch = typeof globalThis.fetch;
const LINE_FEED = 0x0a;

/**
 * A `fetch` whose answers fail once a message is longer than the limit: a JSON answer is one
 * message, in an event stream each line is.
 */
export function boundedFetch(
  fetch: () => Promise<Fetch | undefined>,
  maxBytes = DEFAULT_MAX_LINE_BYTES,
): Fetch {
  return async (...request) => {
    const own = (await fetch()) ?? globalThis.fetch;
    const response = await own(...request);
    if (response.body === null) return response;
    const isStream = response.headers.get("content-type")?.includes("event-stream") ?? false;
    const body = response.body.pipeThrough(limiter(maxBytes, isStream));
    const { status, statusText, headers } = response;
    const bounded = new Response(body, { status, statusText, headers });
    Object.defineProperties(bounded, {
      url: { value: response.url },
      redirected: { value: response.redirected },
    });
    return bounded;
  };
}

function limiter(maxBytes: number, isByLine: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const end = isByLine ? chunk.lastIndexOf(LINE_FEED) : -1;
      bytes = end === -1 ? bytes + chunk.length : chunk.length - end - 1;
      if (bytes <= maxBytes) return controller.enqueue(chunk);
      controller.error(new Error(`The server sent a message of more than ${maxBytes} bytes`));
    },
  });
}
