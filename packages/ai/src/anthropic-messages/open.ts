import type Anthropic from "@anthropic-ai/sdk";
import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import { vendorFetch } from "../fetch.ts";
import { isCopilot } from "../github-copilot/is-copilot.ts";
import type { StreamOptions } from "../provider.ts";
import { RequestMemory } from "../request/request-memory.ts";
import { betasOf, isLoginToken } from "./betas.ts";
import { readEvents } from "./events.ts";
import { isAnthropicHost } from "./host.ts";
import type { AnthropicRequest } from "./wire-types.ts";

type Headers = Record<string, string | null>;

/** The longest possible timer: the caller sets time limits through the signal. */
const noTimeoutMs = 2 ** 31 - 1;

/** Sends a request through the vendor's SDK, which is loaded only here. */
export async function openStream(
  model: Model,
  request: AnthropicRequest,
  options: StreamOptions,
  memory: RequestMemory = new RequestMemory(),
): Promise<AsyncIterable<RawMessageStreamEvent>> {
  const headers = withBetas(betasOf(request, options), {
    ...authenticate(model, options.apiKey),
    ...versionHeader(model, request),
    ...affinityHeader(model, options),
    ...model.headers,
    ...options.headers,
  });
  const { fetch = globalThis.fetch } = options;
  // The SDK appends /v1 itself.
  const baseUrl = model.baseUrl.replace(/\/(?:v1\/?)?$/, "");
  const body = memory.body(request, "messages", options);
  const post = { baseUrl, path: "/v1/messages", body, headers, fetch };
  return postForEvents(post, options, memory);
}

/** An HTTP request ready to be sent. */
export interface Post {
  readonly baseUrl: string;
  readonly path: string;
  readonly body: string;
  readonly headers: Headers;
  readonly fetch: typeof globalThis.fetch;
}

/** Sends a request to any server of this format. */
export async function postForEvents(
  { baseUrl, path, body, headers, fetch }: Post,
  options: StreamOptions,
  memory: RequestMemory,
): Promise<AsyncIterable<RawMessageStreamEvent>> {
  const parts = ["anthropic", baseUrl, fetch, JSON.stringify(headers)] as const;
  const client = await memory.client.get(parts, () =>
    createClient(baseUrl, vendorFetch(fetch, headers)),
  );
  const { signal = null } = options;
  const type = { "content-type": "application/json" };
  // Avoids `client.messages`, which prints a warning for every model that will be retired.
  const sent = client.post(path, { body, signal, headers: type, stream: true });
  const { APIError } = client.constructor as typeof Anthropic;
  return readEvents(await sent.asResponse(), APIError);
}

async function createClient(baseUrl: string, fetch: typeof globalThis.fetch): Promise<Anthropic> {
  const { Anthropic: Client } = await import("@anthropic-ai/sdk/client");
  return new Client({
    // A placeholder that is never sent; it keeps the SDK from looking for its own credentials.
    apiKey: "none",
    baseURL: baseUrl,
    maxRetries: 0,
    timeout: noTimeoutMs,
    logLevel: "off",
    fetch,
  });
}

/**
 * How the key is sent: a login token as a bearer token, a key in the header that the vendor's API reference
 * names. Other servers get a key in both headers, because they differ in which one they read.
 */
function authenticate(model: Model, apiKey: string | undefined): Headers {
  const { baseUrl } = model;
  if (!apiKey) return {};
  const bearer = { authorization: `Bearer ${apiKey}` };
  if (isLoginToken(apiKey) || isCopilot(model)) return bearer;
  return { "x-api-key": apiKey, ...(!isAnthropicHost(baseUrl) && bearer) };
}

/**
 * The SDK requests version 2026-10-21, which refuses a temperature; compatible servers implement the version
 * before. See https://platform.claude.com/docs/en/api/migration-2026-10-21.
 */
function versionHeader({ baseUrl }: Model, { temperature }: AnthropicRequest): Headers {
  const isCurrent = isAnthropicHost(baseUrl) && temperature === undefined;
  return isCurrent ? {} : { "anthropic-version": "2023-06-01" };
}

/** Adds to the caller's own betas; `null` deletes all of them. */
export function withBetas(betas: readonly string[], headers: Headers): Headers {
  const names = Object.keys(headers).filter((name) => name.toLowerCase() === "anthropic-beta");
  const given = names.map((name) => headers[name]);
  if (betas.length === 0 || given.includes(null)) return headers;
  const others = Object.entries(headers).filter(([name]) => !names.includes(name));
  const asked = given.flatMap((value) => (value ?? "").split(",")).map((beta) => beta.trim());
  const all = new Set([...betas, ...asked.filter((beta) => beta !== "")]);
  return { ...Object.fromEntries(others), "anthropic-beta": [...all].join(",") };
}

function affinityHeader(model: Model, { sessionId }: StreamOptions): Headers {
  const wants = model.compat?.sendSessionAffinityHeaders === true && sessionId !== undefined;
  return wants ? { "x-session-affinity": sessionId } : {};
}
