import type { Model } from "@tau-agent/rpc-protocol/messages";
import { parseJson } from "@tau-agent/rpc-protocol/plain";
import type OpenAI from "openai";
import { vendorFetch } from "../fetch.ts";
import type { StreamOptions } from "../provider.ts";
import type { RequestMemory } from "../request/request-memory.ts";
import { HeaderList } from "../transport/header-list.ts";
import { bytesOf, makeResponse, only } from "../transport/reply.ts";
import { endOfReply, ServerEvents } from "../transport/server-events.ts";

type Headers = Record<string, string | null>;

/** The longest delay of a timer; the caller's signal sets the time limit. */
const noTimeoutMs = 2 ** 31 - 1;

/**
 * A client for a request; reuses the previous one unless server, key or headers differ. Connections are
 * shared through `fetch`.
 */
export function clientFor(
  model: Model,
  options: StreamOptions,
  memory: RequestMemory,
  extraHeaders: Readonly<Record<string, string>> = {},
): Promise<OpenAI> {
  const headers = mergeHeaders(
    options.apiKey ? { authorization: `Bearer ${options.apiKey}` } : {},
    extraHeaders,
    model.headers ?? {},
    options.headers ?? {},
  );
  const { fetch = globalThis.fetch } = options;
  return memory.client.get(["openai", model.baseUrl, fetch, JSON.stringify(headers)], () =>
    createClient(model.baseUrl, vendorFetch(fetch, headers)),
  );
}

/**
 * Sends `body`, the request as JSON, and returns the reply's parsed events. By default, the SDK calls a
 * function for each member of the request, which takes twice as long, and reads the reply in many more steps
 * (row "text stream of 16 000 deltas").
 */
export async function postForEvents<Chunk>(
  client: OpenAI,
  path: string,
  body: string,
  { signal }: StreamOptions,
): Promise<ServerEvents<Chunk>> {
  const headers = { "content-type": "application/json" };
  const { APIError } = client.constructor as typeof OpenAI;
  const response = await client.post(path, { body, signal, headers, stream: true }).asResponse();
  if (response.body === null) throw new TypeError("The server sent a reply without a body");
  return new ServerEvents(bytesOf(response.body), ({ event, data }) => {
    if (data === "[DONE]") return endOfReply;
    const { value, error } = parseEvent(data);
    if (error || event === "error") {
      throw new APIError(undefined, Object(error ?? value), undefined, response.headers);
    }
    // Servers omit more members than the SDK's types allow.
    return value as Chunk;
  });
}

function parseEvent(data: string): { readonly value: unknown; readonly error: unknown } {
  let value: { readonly error?: unknown } | null;
  try {
    value = JSON.parse(data);
  } catch {
    throw new SyntaxError("The server sent an event that is not JSON");
  }
  return { value, error: value?.error };
}

export const loadClient = (): Promise<typeof import("openai/client")> => import("openai/client");

async function createClient(baseURL: string, fetch: typeof globalThis.fetch): Promise<OpenAI> {
  const { OpenAI: Client } = await loadClient();
  return new Client({
    baseURL,
    // A placeholder that is never sent: the headers below are complete.
    apiKey: "none",
    // Set explicitly; otherwise, the SDK reads each of these from the environment.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: "off",
    maxRetries: 0,
    timeout: noTimeoutMs,
    fetch: withErrorBody(fetch),
  });
}

/** Later headers override earlier ones in any case; `null` deletes. */
function mergeHeaders(...all: readonly Readonly<Headers>[]): Headers {
  const merged: Headers = {};
  for (const headers of all) {
    for (const [name, value] of Object.entries(headers)) merged[name.toLowerCase()] = value;
  }
  return merged;
}

/**
 * The SDK reads an error's text from a member named `error` and drops any other body; this moves other shapes
 * (`{"detail": …}`, `{"message": …}`) to where it looks.
 */
function withErrorBody(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.ok) return response;
    const text = await response.text().catch(() => "");
    const { status, statusText } = response;
    const headers = new HeaderList(response.headers);
    for (const name of ["content-encoding", "content-length"]) headers.delete(name);
    return makeResponse({ status, statusText, headers, body: only(wrapError(text)) });
  };
}

function wrapError(text: string): Uint8Array {
  return new TextEncoder().encode(wrapped(text));
}

function wrapped(text: string): string {
  const body = parseJson(text);
  if (body === undefined) return text;
  const inner = Array.isArray(body) ? body[0] : body;
  const hasError = typeof inner === "object" && inner !== null && "error" in inner;
  return JSON.stringify(hasError ? inner : { error: inner });
}
