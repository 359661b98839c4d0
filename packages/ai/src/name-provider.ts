import type { Model } from "@tau-agent/rpc-protocol/messages";
import { ProviderError } from "./errors.ts";
import { redactSecrets } from "./redact-secrets.ts";
import { proxyStep } from "./unreached-proxy.ts";
import { webPageText } from "./web-page.ts";

/** Failures that require action by the user, with the next step. The first matching row counts. */
const nextSteps: readonly {
  readonly fits: (error: ProviderError) => boolean;
  readonly step: string;
}[] = [
  { fits: ({ message }) => message.startsWith(webPageText), step: "Check the base URL." },
  { fits: says(/ECONNREFUSED/), step: "Is the server running?" },
  {
    fits: says(/ENOTFOUND|EAI_AGAIN|getaddrinfo/),
    step: "Check the base URL and the network connection.",
  },
  {
    fits: says(/CERT|certificate|SELF_SIGNED|UNABLE_TO_|ERR_(?:TLS|SSL)/i),
    step: "Check the server's certificate, or name its authority in NODE_EXTRA_CA_CERTS.",
  },
  {
    fits: (error) => error.code === "timeout" && error.status === undefined,
    step: "Is the server busy, or the time limit too short for this model?",
  },
  {
    fits: (error) => error.code === "network" && error.status === undefined,
    step: "Check the network connection and any proxy.",
  },
  {
    fits: (error) => error.code === "auth",
    step: "Check the API key and what it may be used for.",
  },
  {
    fits: (error) => error.code === "quota",
    step: "Check the plan and the balance of the account.",
  },
  {
    fits: (error) => error.code === "invalid_request" && error.status === 404,
    step: "Check the model id and the base URL.",
  },
  {
    fits: (error) => error.code === "context_overflow",
    step: "Compact the conversation, or choose a model with a larger context window.",
  },
  {
    fits: ({ code, status }) => code === "rate_limited" && status !== undefined,
    step: "Wait before the next prompt, or choose another model.",
  },
  {
    fits: ({ code, status }) => code === "overloaded" && status !== undefined,
    step: "Try again later, or choose another model.",
  },
];

function says(pattern: RegExp): (error: ProviderError) => boolean {
  return ({ code, status, message }) =>
    code === "network" && status === undefined && pattern.test(message);
}

export interface NamingOptions {
  /** The longest wait that a vendor may request, in ms; a longer wait is mentioned in the error. */
  readonly maxRetryDelayMs?: number | undefined;
  /** What to do when the key is refused; by default, to check it. */
  readonly keyStep?: string | undefined;
  /** Set if requests may go through a proxy. */
  readonly fetch?: unknown;
}

/**
 * Adds the provider, its base URL and the next step to an error. The original text stays in front, because
 * clients look for it.
 */
export function nameProvider(
  error: ProviderError,
  { provider, baseUrl }: Model,
  { maxRetryDelayMs = Number.POSITIVE_INFINITY, keyStep, fetch }: NamingOptions = {},
): ProviderError {
  const { code, message, status, retryAfterMs = 0, cause } = error;
  const isTooLong = error.isRetryable && retryAfterMs > maxRetryDelayMs;
  const step = isTooLong
    ? `It asks to wait ${inWords(retryAfterMs)}, longer than retry.maxDelayMs allows (${inWords(maxRetryDelayMs)}).`
    : (resetStep(error) ??
      (status === 401 && code === "auth" ? keyStep : undefined) ??
      (fetch !== undefined && status === undefined ? proxyStep(message, baseUrl) : undefined) ??
      nextSteps.find(({ fits }) => fits(error))?.step);
  if (step === undefined || (baseUrl === "" && !isTooLong)) return error;
  const place = baseUrl === "" ? provider : `${provider} at ${printable(baseUrl)}`;
  return new ProviderError({
    code,
    message: `${message} (${place}). ${step}`,
    status,
    retryAfterMs: error.retryAfterMs,
    cause,
  });
}

/** When an exhausted plan can be used again. */
function resetStep({ code, retryAfterMs = 0 }: ProviderError): string | undefined {
  if (code !== "quota" || retryAfterMs <= 0 || retryAfterMs > MAX_RESET_MS) return undefined;
  const [day, time = ""] = new Date(Date.now() + retryAfterMs).toISOString().split("T");
  const at = `${day} ${time.slice(0, 5)} UTC`;
  return `It can be used again in ${inWords(retryAfterMs)}, at ${at}; until then choose another model.`;
}

/** No plan is exhausted for longer; a later date is wrong. */
const MAX_RESET_MS = 400 * 24 * 3_600_000;

/** A duration in readable form: `1 h 5 min`, `34 s`, `620 ms`. */
function inWords(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.ceil(ms / 1000);
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor((seconds % 86_400) / 3600), "h"],
    [Math.floor((seconds % 3600) / 60), "min"],
    [seconds % 60, "s"],
  ];
  const said = parts.filter(([count]) => count > 0).slice(0, 2);
  return said.map(([count, unit]) => `${count} ${unit}`).join(" ");
}

/** Without user, password and query, which may be secret. */
function printable(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return redactSecrets(baseUrl);
  const url = new URL(baseUrl);
  return `${url.origin}${url.pathname.replace(/\/$/, "")}`;
}
