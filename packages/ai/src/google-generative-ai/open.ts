import type { Model } from "@tau-agent/rpc-protocol/messages";
import { ProviderError } from "../errors.ts";
import { guardRedirects } from "../fetch.ts";
import type { StreamOptions } from "../provider.ts";
import { classifyResponse } from "./errors.ts";
import type { GoogleRequest } from "./request.ts";
import type { GoogleChunk } from "./response.ts";

type Fetch = typeof globalThis.fetch;

/** Sends a request through the vendor's SDK, which is loaded here and nowhere else. */
export async function openStream(
  model: Model,
  request: GoogleRequest,
  options: StreamOptions,
): Promise<AsyncIterable<GoogleChunk>> {
  const { GoogleGenAI } = await import("@google/genai");
  const headers = { ...model.headers, ...options.headers };
  const rejected: { response?: Response } = {};
  const client = new GoogleGenAI({
    // Set in full, so that the SDK looks for nothing in the environment.
    vertexai: false,
    apiKey: options.apiKey || "none",
    httpOptions: {
      baseUrl: model.baseUrl,
      // Base URLs name the version as a rule.
      apiVersion: new URL(model.baseUrl).pathname === "/" ? "v1beta" : "",
      // Without this the SDK makes a new connection pool, and so a new connection, per request.
      fetch: withHeaders(guardRedirects(options.fetch), headers, options.apiKey, rejected),
    },
  });
  const config = { ...request.config, ...(options.signal && { abortSignal: options.signal }) };
  try {
    return await client.models.generateContentStream({ ...request, config });
  } catch (error) {
    // The SDK's error leaves out the headers, and with them how long to wait.
    throw new ProviderError(classifyResponse(error, rejected.response?.headers));
  }
}

/** Headers of the caller come last; null, and a key that is not there, delete one. */
function withHeaders(
  fetch: Fetch,
  headers: Readonly<Record<string, string | null>>,
  apiKey: string | undefined,
  rejected: { response?: Response },
): Fetch {
  return async (input, init) => {
    const merged = new Headers(init?.headers);
    if (!apiKey) merged.delete("x-goog-api-key");
    for (const [name, value] of Object.entries(headers)) {
      if (value === null) merged.delete(name);
      else merged.set(name, value);
    }
    const response = await fetch(input, { ...init, headers: merged });
    if (!response.ok) rejected.response = response;
    return response;
  };
}
