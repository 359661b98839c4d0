type Fetch = typeof globalThis.fetch;
type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** How long the end of a body is waited for once its last event is there. */
const restMs = 1_000;

/**
 * Wraps `fetch` so that the connection can serve the next request: OpenAI's SDK cancels a body at
 * `[DONE]`, which closes the connection unless the end has arrived as well. The rest is read
 * instead.
 */
export function withRestOfBody(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!response.ok || response.body === null) return response;
    const reader = response.body.getReader();
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        async cancel(reason) {
          if (init?.signal?.aborted) await reader.cancel(reason);
          else readRest(reader);
        },
      },
      { highWaterMark: 0 },
    );
    const { status, statusText, headers } = response;
    return new Response(body, { status, statusText, headers });
  };
}

/** Nobody waits for it, and nobody is left to tell when it fails. */
function readRest(reader: Reader): void {
  const giveUp = (): void => void reader.cancel().catch(() => undefined);
  const timer = setTimeout(giveUp, restMs);
  timer.unref();
  const read = async (): Promise<void> => {
    while (!(await reader.read()).done);
  };
  read().then(
    () => clearTimeout(timer),
    () => clearTimeout(timer),
  );
}
