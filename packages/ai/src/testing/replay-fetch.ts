import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ProviderError } from "../errors.ts";
import { listRecordings, type Recording } from "./recording.ts";

/** The configuration of a replay. */
export interface ReplayOptions {
  /** The folder of a `recordingFetch`. */
  readonly directory: string;
  /** The size of the pieces, in bytes. By default, as recorded. */
  readonly chunkBytes?: number | undefined;
}

/**
 * A `fetch` that answers from recordings, in their order. Nothing leaves the machine. A request to a
 * different path than the recorded one, or an excess request, fails with a clear error.
 */
export function replayFetch({ directory, chunkBytes }: ReplayOptions): typeof globalThis.fetch {
  let names: Promise<string[]> | undefined;
  let count = 0;
  return async (input, init) => {
    names ??= listRecordings(directory);
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    const index = count++;
    const name = (await names)[index];
    if (name === undefined) throw missing(directory, index);
    const recording: Recording = JSON.parse(
      await readFile(join(directory, `${name}.json`), "utf8"),
    );
    checkRequest(request, recording, name);
    const { status, headers, chunkBytes: recorded, isCut } = recording.response;
    const bytes = await readFile(join(directory, `${name}.bin`));
    const sizes = chunkBytes === undefined ? recorded : evenSizes(bytes.length, chunkBytes);
    const isBodyless = status === 204 || status === 304;
    const body = isBodyless ? null : replayBody(bytes, sizes, isCut, request.signal);
    return new Response(body, { status, headers });
  };
}

function missing(directory: string, index: number): ProviderError {
  return new ProviderError({
    code: "invalid_request",
    message: `${directory} holds no recording for request ${index + 1}`,
  });
}

function checkRequest(request: Request, { request: recorded }: Recording, name: string): void {
  const actual = `${request.method} ${new URL(request.url).pathname}`;
  const wanted = `${recorded.method} ${new URL(recorded.url).pathname}`;
  if (actual === wanted) return;
  throw new ProviderError({
    code: "invalid_request",
    message: `Recording ${name} answers ${wanted}, but the request is ${actual}`,
  });
}

function evenSizes(total: number, size: number): number[] {
  const step = Math.max(1, size);
  return Array.from({ length: Math.ceil(total / step) }, (_, at) =>
    Math.min(step, total - at * step),
  );
}

function replayBody(
  bytes: Uint8Array,
  sizes: readonly number[],
  isCut: boolean,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  let at = 0;
  let index = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const size = sizes[index++];
        if (signal.aborted) controller.error(signal.reason);
        else if (size !== undefined) {
          controller.enqueue(bytes.slice(at, at + size));
          at += size;
        } else if (isCut) controller.error(new TypeError("terminated"));
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}
