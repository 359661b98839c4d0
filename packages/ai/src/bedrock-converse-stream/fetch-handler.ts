import type { HttpHandler, HttpHandlerOptions, HttpRequest } from "@smithy/core/protocols";
import { type ByteSource, bytesOf } from "../transport/reply.ts";
import { cutFrames } from "./frames.ts";

type Fetch = typeof globalThis.fetch;

/** Sends the requests of AWS clients through `fetch`; streams the body as complete events or reads it at once. */
export function createFetchHandler(fetch: Fetch, body: "events" | "whole"): HttpHandler {
  return {
    async handle(request: HttpRequest, { abortSignal }: HttpHandlerOptions = {}) {
      const { protocol, hostname, port, path, query = {}, method, headers } = request;
      const url = new URL(`${protocol}//${hostname}${port ? `:${port}` : ""}`);
      url.pathname = path;
      for (const [name, value] of Object.entries(query)) {
        for (const one of [value].flat()) url.searchParams.append(name, one ?? "");
      }
      const { host: _, "content-length": __, ...sent } = headers;
      const response = await fetch(url, {
        method,
        headers: sent,
        ...(request.body !== undefined && { body: textOf(request.body) }),
        ...(abortSignal instanceof AbortSignal && { signal: abortSignal }),
      });
      const streamed = response.body !== null && body === "events";
      return {
        response: {
          statusCode: response.status,
          reason: response.statusText,
          headers: Object.fromEntries(response.headers),
          body: streamed
            ? framesOf(bytesOf(response.body))
            : new TextEncoder().encode(await response.text()),
        },
      };
    },
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
  };
}

/**
 * Wraps errors as causes, because the SDK adds a hint for its own users to errors thrown while it reads the
 * first event.
 */
async function* framesOf(source: ByteSource): AsyncGenerator<Uint8Array, void> {
  try {
    yield* cutFrames(source);
  } catch (error) {
    throw new Error("The events cannot be read", { cause: error });
  }
}

function textOf(body: unknown): string {
  return body instanceof Uint8Array ? new TextDecoder().decode(body) : String(body);
}
