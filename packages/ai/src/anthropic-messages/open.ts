import type Anthropic from "@anthropic-ai/sdk";
import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import { guardRedirects, withOwnHeaders } from "../fetch.ts";
import type { StreamOptions } from "../provider.ts";
import { RequestMemory } from "../request/request-memory.ts";
import { type AnthropicRequest, isAnthropicHost } from "./request.ts";

type Headers = Record<string, string | null>;

/** Longest timer there is: time limits are the caller's, through the signal. */
const noTimeoutMs = 2 ** 31 - 1;

/** Sends a request through the vendor's SDK, which is loaded here and nowhere else. */
export async function openStream(
  model: Model,
  request: AnthropicRequest,
  options: StreamOptions,
  memory: RequestMemory = new RequestMemory(),
): Promise<AsyncIterable<RawMessageStreamEvent>> {
  const headers = {
    ...authenticate(model, options.apiKey),
    ...versionHeader(model, request),
    ...betaHeader(request, options),
    ...affinityHeader(model, options),
    ...model.headers,
    ...options.headers,
  };
  const { fetch = globalThis.fetch, signal = null } = options;
  const parts = ["anthropic", model.baseUrl, fetch, JSON.stringify(headers)] as const;
  const client = await memory.client.get(parts, () =>
    createClient(model.baseUrl, withOwnHeaders(guardRedirects(fetch), headers)),
  );
  const body = memory.body(request, "messages", options);
  const type = { "content-type": "application/json" };
  return client.messages.create(request, { signal, body, headers: type });
}

async function createClient(baseUrl: string, fetch: typeof globalThis.fetch): Promise<Anthropic> {
  const { Anthropic: Client } = await import("@anthropic-ai/sdk");
  return new Client({
    // A placeholder that never leaves, so that the SDK looks for no credentials of its own.
    apiKey: "none",
    // The SDK adds /v1 itself.
    baseURL: baseUrl.replace(/\/(?:v1\/?)?$/, ""),
    maxRetries: 0,
    timeout: noTimeoutMs,
    logLevel: "off",
    fetch,
  });
}

/**
 * How the key travels: a login's token as bearer, a key where the vendor's API reference has it. To
 * other servers of this format a key goes both ways, because some look here and some there.
 */
function authenticate({ baseUrl }: Model, apiKey: string | undefined): Headers {
  if (!apiKey) return {};
  const bearer = { authorization: `Bearer ${apiKey}` };
  if (isLoginToken(apiKey)) return bearer;
  return { "x-api-key": apiKey, ...(!isAnthropicHost(baseUrl) && bearer) };
}

/**
 * The SDK asks for version 2026-10-21, which refuses a temperature; compatible servers were written
 * to the version before. See https://platform.claude.com/docs/en/api/migration-2026-10-21.
 */
function versionHeader({ baseUrl }: Model, { temperature }: AnthropicRequest): Headers {
  const isCurrent = isAnthropicHost(baseUrl) && temperature === undefined;
  return isCurrent ? {} : { "anthropic-version": "2023-06-01" };
}

function isLoginToken(apiKey: string): boolean {
  return apiKey.includes("sk-ant-oat");
}

function betaHeader(request: AnthropicRequest, { apiKey }: StreamOptions): Headers {
  const betas: string[] = [];
  if (apiKey && isLoginToken(apiKey)) betas.push("oauth-2025-04-20");
  // Models that decide themselves how much to think do so between calls without being asked.
  if (request.thinking?.type === "enabled" && request.tools?.length) {
    betas.push("interleaved-thinking-2025-05-14");
  }
  return betas.length > 0 ? { "anthropic-beta": betas.join(",") } : {};
}

function affinityHeader(model: Model, { sessionId }: StreamOptions): Headers {
  const wants = model.compat?.sendSessionAffinityHeaders === true && sessionId !== undefined;
  return wants ? { "x-session-affinity": sessionId } : {};
}
