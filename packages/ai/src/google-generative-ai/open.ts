import type { Model } from "@tau-agent/rpc-protocol/messages";
import { parseJson } from "@tau-agent/rpc-protocol/plain";
import { streamedError } from "../error-body.ts";
import { ProviderError } from "../errors.ts";
import { vendorFetch } from "../fetch.ts";
import type { StreamOptions } from "../provider.ts";
import { quietly } from "../quietly.ts";
import { HeaderList } from "../transport/header-list.ts";
import { bytesOf, makeResponse, only } from "../transport/reply.ts";
import { type ServerEvent, ServerEvents } from "../transport/server-events.ts";
import { classifyResponse } from "./errors.ts";
import type { GoogleRequest } from "./request.ts";
import type { GoogleChunk } from "./response.ts";

type Fetch = typeof globalThis.fetch;

/** Sends a request through the vendor's SDK, which is loaded only here. */
export async function openStream(
  model: Model,
  request: GoogleRequest,
  options: StreamOptions,
): Promise<AsyncIterable<GoogleChunk>> {
  const { fetch = globalThis.fetch } = options;
  const key = options.apiKey ? { "x-goog-api-key": options.apiKey } : {};
  const headers = { ...key, ...model.headers, ...options.headers };
  const { baseUrl } = model;
  // Base URLs usually contain the version.
  const apiVersion = new URL(baseUrl).pathname === "/" ? "v1beta" : "";
  return sendRequest({ vertexai: false, baseUrl, apiVersion, headers, fetch }, request, options);
}

/** Where a request goes, and its headers and fetch. */
export interface GooglePlace {
  /** Whether the server is Vertex AI, which has additional members. */
  readonly vertexai: boolean;
  readonly baseUrl: string;
  /** Empty if the base URL contains the version. */
  readonly apiVersion: string;
  readonly headers: Readonly<Record<string, string | null>>;
  readonly fetch: Fetch;
}

/** Sends a request to any server of this format. */
export async function sendRequest(
  { vertexai, baseUrl, apiVersion, headers, fetch }: GooglePlace,
  request: GoogleRequest,
  options: StreamOptions,
): Promise<AsyncIterable<GoogleChunk>> {
  const { GoogleGenAI } = await import("@google/genai/web");
  const rejected: { response?: Response } = {};
  const settings = {
    // Sets every option, so that the SDK reads nothing from the environment; the placeholder is never sent.
    vertexai,
    apiKey: "none",
    httpOptions: {
      baseUrl,
      apiVersion,
      // Without this, the SDK creates a new connection pool, and thus a new connection, for each request.
      fetch: keepRejected(readErrors(vendorFetch(fetch, headers)), rejected),
    },
  };
  const client = quietly(() => new GoogleGenAI(settings));
  const config = { ...request.config, ...(options.signal && { abortSignal: options.signal }) };
  try {
    return await client.models.generateContentStream({ ...request, config });
  } catch (error) {
    // The SDK's error does not include the headers, which say how long to wait.
    throw new ProviderError(classifyResponse(error, rejected.response?.headers));
  }
}

/**
 * Passes only the events of a reply to the SDK. Throws errors among them, and bodies other than an event
 * stream, with their own text; the SDK would report most of them as a broken connection.
 */
function readErrors(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { ok, status, statusText, headers, body } = response;
    if (!ok || body === null) return response;
    const events = new ServerEvents(bytesOf(body), readEvent);
    return makeResponse({ status, statusText, headers: new HeaderList(headers), body: events });
  };
}

const encoder = new TextEncoder();

function readEvent({ data }: ServerEvent): Uint8Array | undefined {
  if (data === "") return undefined;
  const value: unknown =
    data.includes('"error"') && parseJson(data) !== undefined ? JSON.parse(data) : undefined;
  if (Object.hasOwn(Object(value), "error")) throw streamedError(value);
  return encoder.encode(`data: ${data.replaceAll("\n", " ")}\n\n`);
}

/**
 * Keeps a refused request's response for its headers. If a body claims to be JSON but is not, the SDK would
 * report a parse error instead of the status.
 */
function keepRejected(fetch: Fetch, rejected: { response?: Response }): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.ok) return response;
    rejected.response = response;
    const { status, statusText } = response;
    const text = await response.text();
    const type = parseJson(text) !== undefined ? "application/json" : "text/plain";
    const headers = new HeaderList({ "content-type": type });
    return makeResponse({
      status,
      statusText,
      headers,
      body: only(new TextEncoder().encode(text)),
    });
  };
}
