import type { Model } from "@tau-agent/rpc-protocol/messages";
import { parseJson } from "@tau-agent/rpc-protocol/plain";
import { streamedError } from "../error-body.ts";
import { ProviderError } from "../errors.ts";
import { vendorFetch } from "../fetch.ts";
import type { StreamOptions } from "../provider.ts";
import { quietly } from "../quietly.ts";
import { RequestMemory } from "../request/request-memory.ts";
import { HeaderList } from "../transport/header-list.ts";
import { defaultFetch } from "../transport/http-transport.ts";
import { bytesOf, makeResponse, only } from "../transport/reply.ts";
import { type ServerEvent, ServerEvents } from "../transport/server-events.ts";
import { classifyResponse } from "./errors.ts";
import type { GoogleRequest } from "./request.ts";
import type { GoogleChunk } from "./response.ts";

type Fetch = typeof globalThis.fetch;

/** Sends a request through the vendor's SDK, which is loaded here and nowhere else. */
export async function openStream(
  model: Model,
  request: GoogleRequest,
  options: StreamOptions,
  memory: RequestMemory = new RequestMemory(),
): Promise<AsyncIterable<GoogleChunk>> {
  const { fetch = defaultFetch(memory.transport) } = options;
  const key = options.apiKey ? { "x-goog-api-key": options.apiKey } : {};
  const headers = { ...key, ...model.headers, ...options.headers };
  const { baseUrl } = model;
  // Base URLs name the version as a rule.
  const apiVersion = new URL(baseUrl).pathname === "/" ? "v1beta" : "";
  return sendRequest({ vertexai: false, baseUrl, apiVersion, headers, fetch }, request, options);
}

/** Where a request goes, and what it carries besides its content. */
export interface GooglePlace {
  /** Whether the server is Vertex AI, which has members of its own. */
  readonly vertexai: boolean;
  readonly baseUrl: string;
  /** Empty where the base URL names it. */
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
    // Set in full, so that the SDK looks for nothing in the environment; the placeholder never leaves.
    vertexai,
    apiKey: "none",
    httpOptions: {
      baseUrl,
      apiVersion,
      // Without this the SDK makes a new connection pool, and so a new connection, per request.
      fetch: keepRejected(readErrors(vendorFetch(fetch, headers)), rejected),
    },
  };
  const client = quietly(() => new GoogleGenAI(settings));
  const config = { ...request.config, ...(options.signal && { abortSignal: options.signal }) };
  try {
    return await client.models.generateContentStream({ ...request, config });
  } catch (error) {
    // The SDK's error leaves out the headers, and with them how long to wait.
    throw new ProviderError(classifyResponse(error, rejected.response?.headers));
  }
}

/**
 * Hands the SDK only the events of a reply. An error among them, or a body other than a stream of events, is
 * thrown as what it says; the SDK would take most of them for a broken connection.
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
 * Keeps a refusal's response for its headers. A body that says it is JSON and is not would end as the
 * parser's complaint instead of the status.
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
