import type { Model } from "@tau-agent/rpc-protocol/messages";
import type OpenAI from "openai";
import { vendorFetch } from "../fetch.ts";
import type { StreamOptions } from "../provider.ts";
import type { RequestMemory } from "../request/request-memory.ts";
import { withRestOfBody } from "./rest-of-body.ts";

type Headers = Record<string, string | null>;

/** The longest delay a timer takes; when to give up is decided by the caller's signal. */
const noTimeoutMs = 2 ** 31 - 1;

/**
 * A client for a request: that of the last one, unless server, key or headers differ. Connections
 * are shared through `fetch`.
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
 * Options that send `body`, the request as JSON. Left to itself, the SDK asks a function of its own
 * about each member, which takes twice as long.
 */
export function sendOptions(body: string, { signal }: StreamOptions): OpenAI.RequestOptions {
  return { signal, body, headers: { "content-type": "application/json" } };
}

async function createClient(baseURL: string, fetch: typeof globalThis.fetch): Promise<OpenAI> {
  const { OpenAI: Client } = await import("openai");
  return new Client({
    baseURL,
    // A placeholder that never leaves: the headers below are all there are.
    apiKey: "none",
    // Each of these would otherwise come from the environment.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: "off",
    maxRetries: 0,
    timeout: noTimeoutMs,
    fetch: withErrorBody(withRestOfBody(fetch)),
  });
}

/** Later ones win whatever their case; `null` deletes. */
function mergeHeaders(...all: readonly Readonly<Headers>[]): Headers {
  const merged: Headers = {};
  for (const headers of all) {
    for (const [name, value] of Object.entries(headers)) merged[name.toLowerCase()] = value;
  }
  return merged;
}

/**
 * The SDK reads an error's text from a member named `error` and drops any other body; this puts other
 * shapes (`{"detail": …}`, `{"message": …}`) where it looks.
 */
function withErrorBody(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.ok) return response;
    const text = await response.text().catch(() => "");
    const { status, statusText, headers } = response;
    const kept = new Headers(headers);
    for (const name of ["content-encoding", "content-length"]) kept.delete(name);
    const body = hasNoBody(status) ? null : wrapError(text);
    return new Response(body, { status, statusText, headers: kept });
  };
}

function hasNoBody(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

function wrapError(text: string): string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return text;
  }
  const inner = Array.isArray(body) ? body[0] : body;
  const hasError = typeof inner === "object" && inner !== null && "error" in inner;
  return JSON.stringify(hasError ? inner : { error: inner });
}
