import { modelErrorTable } from "@tau-agent/rpc-protocol/plain";
import { meaningOf, type ProviderErrorCode } from "./error-codes.ts";
import { hideSecrets, redactSecrets } from "./redact-secrets.ts";
import { readReset, readRetryAfter } from "./retry-hint.ts";

export type { ProviderErrorCode };

/** Facts about a failed request. */
export interface ProviderErrorInit {
  readonly code: ProviderErrorCode;
  /** Status and body (or cause) as text; keys are redacted. */
  readonly message: string;
  readonly status?: number | undefined;
  /** How long the vendor asks to wait, or until an exhausted limit is reset, in ms. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

const brand = Symbol.for("@tau-agent/ai/ProviderError");

/** A request to a model failed. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly code: ProviderErrorCode;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(init: ProviderErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.code = init.code;
    this.status = init.status;
    this.retryAfterMs = init.retryAfterMs;
    Object.defineProperty(this, brand, { value: true });
  }

  /** Whether the same request may succeed later. */
  get isRetryable(): boolean {
    return modelErrorTable[this.code].retryable;
  }
}

/** A copy of the error without these texts; removes the cause too if it contains one of them. */
export function withoutSecrets(error: ProviderError, secrets: readonly string[]): ProviderError {
  const message = hideSecrets(error.message, secrets);
  if (message === error.message) return error;
  const { code, status, retryAfterMs } = error;
  return new ProviderError({ code, message, status, retryAfterMs });
}

/** Recognises a {@link ProviderError} even if it comes from another installed copy. */
export function isProviderError(value: unknown): value is ProviderError {
  return typeof value === "object" && value !== null && brand in value;
}

/** What a vendor's SDK reports about a failure, in HTTP terms. */
export interface VendorFailure {
  /** The vendor's own text: the body or error message. */
  readonly message: string;
  readonly status?: number | undefined;
  readonly headers?: Pick<Headers, "get"> | undefined;
  /** The vendor's error type and code, if it sends them. */
  readonly vendorCode?: string | readonly string[] | undefined;
  /** The parsed body, which may contain how long to wait. */
  readonly body?: unknown;
  /** The thrown value; its chain of causes is searched for network errors. */
  readonly cause?: unknown;
}

const quotaText =
  /insufficient[_ ]quota|quota exceeded|exceeded your (?:current )?quota|(?:check|visit|update|add|go to) (?:\S+ ){0,4}(?:plan and )?billing|billing (?:details|hard limit|not active)|out of budget|monthly usage limit|credit balance|available balance|insufficient (?:credits?|balance|funds)|usage[_ ]limit[_ ](?:reached|exceeded)|(?:Go|Free)UsageLimitError|payment required/i;

const throttleText =
  /throttl|rate.?limit|too many requests|resource ?exhausted|(?<![\w.-])429(?![\w-])/i;

const overflowText = [
  /input length and .?max_(?:completion_|output_)?tokens.? exceed/i,
  /prompt (?:is )?too long/i,
  /request_too_large|context_length_exceeded|model_context_window_exceeded/i,
  /input is too long for requested model/i,
  /exceeds? (?:the |this )?(?:model'?s? )?(?:available |maximum |max )?context (?:window|length|size)/i,
  /context window (?:exceeded|exceeds limit)/i,
  /input token count.*exceeds the maximum/is,
  /maximum prompt length is \d/i,
  /reduce the length of the messages/i,
  /maximum (?:model )?context length (?:is|of) \d|maximum allowed input length of \d/i,
  /longer than the model'?s context length/i,
  /exceeds the limit of \d/i,
  /greater than the context length/i,
  /exceeded model token limit/i,
  /too large for model with \d+ maximum context length/i,
  /exceeded (?:max )?context length/i,
  /range of input length should be/i,
  /too many tokens|token limit exceeded/i,
  /\b(?:prompt|input|request|messages?)\b.{0,60}\d tokens.{0,60}context (?:size|length|window)/is,
  /^4(?:00|13) (?:status code )?\(no body\)/i,
];

const overloadText =
  /overloaded|server busy|high demand|at capacity|peak load|temporarily unavailable|service unavailable|server[ _]error|internal[ _]error|upstream (?:connect|request failed|provider error)|provider returned error|unable to forward upstream|you can retry your request/i;

/** Google answers a wrong key with 400. */
const keyText = /api key not valid|API_KEY_INVALID/i;

const networkText =
  /connection (?:error|refused|reset|lost|ended)|other side closed|fetch failed|socket (?:hang up|closed)|reset before headers|terminated|network error|network connection lost|unable to connect|getaddrinfo|ENOTFOUND|EAI_AGAIN|ECONNRE(?:FUSED|SET)|http\/?2|stream (?:disconnected|interrupted|ended)|premature close|ended (?:without|before)/i;

const timeoutText = /timed? ?out|ETIMEDOUT/i;

const maxMessageLength = 4_000;

/** Whether an error text says that the conversation no longer fits the model's window. */
export function isContextOverflow(text: string): boolean {
  return !throttleText.test(text) && overflowText.some((pattern) => pattern.test(text));
}

/**
 * Classifies a failure in our terms. The vendor's codes and the status take precedence; the text only decides if they
 * are not specific enough. Digits in an id, or a rate limit's link to the billing page, must not affect the result.
 */
export function classifyFailure(given: VendorFailure): ProviderErrorInit {
  const known = findInCauses(given.cause, isProviderError);
  if (known !== undefined) return known;
  const message = clip(given.message);
  const status = given.status ?? leadingStatus(message);
  const failure = { ...given, message, ...(status !== undefined && { status }) };
  if (findInCauses(failure.cause, isSyntaxError) !== undefined) return brokenEvent(failure);
  const network = status === undefined ? describeNetworkCause(failure.cause) : undefined;
  const words = network ?? (status === undefined ? withRootCause(failure) : failure.message);
  const prefix = status === undefined || words.startsWith(String(status)) ? "" : `${status} `;
  const { code, retryAfterMs } =
    network === undefined ? classifyResponse(failure) : { code: networkCode(network) };
  return {
    code,
    message: redactSecrets(prefix + words),
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(failure.cause !== undefined && { cause: failure.cause }),
  };
}

/** SDKs put the status first in a message, and code that forwards only the message keeps it. */
function leadingStatus(message: string): number | undefined {
  const found = /^([45]\d\d)(?= status code| \{|$)/.exec(message);
  return found === null ? undefined : Number(found[1]);
}

/** Errors are forwarded as `code: text`, including by us. */
function leadingCode(message: string): string[] {
  const found = /^(?:[45]\d\d )?(\w{4,40}): /.exec(message);
  return found?.[1] === undefined ? [] : [found[1]];
}

/** Proxies answer with whole web pages, of which the first lines are enough. */
function clip(text: string): string {
  const rest = text.length - maxMessageLength;
  return rest <= 0 ? text : `${text.slice(0, maxMessageLength)}… (${rest} more characters)`;
}

function isSyntaxError(value: unknown): value is SyntaxError {
  return value instanceof SyntaxError;
}

/** SDKs forward the errors of JSON.parse; the cause is a proxy's page or a cut connection. */
function brokenEvent({ status, cause }: VendorFailure): ProviderErrorInit {
  const message = "The server sent an event that is not JSON";
  return { code: "network", message, cause, ...(status !== undefined && { status }) };
}

function networkCode(text: string): ProviderErrorCode {
  return timeoutText.test(text) ? "timeout" : "network";
}

function classifyResponse(failure: VendorFailure): {
  code: ProviderErrorCode;
  retryAfterMs?: number | undefined;
} {
  const { headers, body, message: text, vendorCode = [] } = failure;
  const byCode = meaningOf([vendorCode, leadingCode(text)].flat());
  const usedUp = () => ({ code: "quota", retryAfterMs: readReset({ headers, body }) }) as const;
  if (byCode === "quota" || failure.status === 402) return usedUp();
  const asked = readRetryAfter({ headers, body, text, isRateLimit: false });
  const code = decide(failure, byCode, asked !== undefined);
  if (code === "quota") return usedUp();
  const isRateLimit = code === "rate_limited";
  return { code, retryAfterMs: asked ?? readRetryAfter({ headers, isRateLimit }) };
}

function decide(
  { status, message }: VendorFailure,
  byCode: ProviderErrorCode | undefined,
  hasHint: boolean,
): ProviderErrorCode {
  if (byCode === "context_overflow" || status === 413) return "context_overflow";
  if (byCode === "rate_limited" || status === 429) return "rate_limited";
  if (isContextOverflow(message)) return "context_overflow";
  // Final errors that the text identifies better than "invalid request". The status of a busy or broken
  // server is kept.
  const isOpen = byCode === undefined || byCode === "invalid_request";
  if (isOpen && !hasHint && (status ?? 400) < 500 && saysMoneyIsGone(message)) return "quota";
  if (isOpen && keyText.test(message)) return "auth";
  return byCode ?? classifyStatus(status) ?? classifyText(message, hasHint);
}

/** Rate limits also link to the billing page, so a mention of a rate takes precedence. */
function saysMoneyIsGone(text: string): boolean {
  return !throttleText.test(text) && quotaText.test(text);
}

function classifyStatus(status: number | undefined): ProviderErrorCode | undefined {
  if (status === undefined) return undefined;
  if (status === 401 || status === 403) return "auth";
  if (status === 408 || status === 504 || status === 524) return "timeout";
  if (status === 429) return "rate_limited";
  if (status >= 500) return "overloaded";
  return status >= 400 ? "invalid_request" : undefined;
}

function classifyText(text: string, hasHint: boolean): ProviderErrorCode {
  if (throttleText.test(text) || (hasHint && quotaText.test(text))) return "rate_limited";
  if (overloadText.test(text)) return "overloaded";
  if (timeoutText.test(text)) return "timeout";
  return networkText.test(text) ? "network" : "unknown";
}

function findInCauses<Found>(
  error: unknown,
  accepts: (value: unknown) => value is Found,
): Found | undefined {
  let current = error;
  for (let depth = 0; depth < 8; depth++) {
    if (accepts(current)) return current;
    if (!(current instanceof Error)) return undefined;
    current = current instanceof AggregateError ? current.errors[0] : current.cause;
  }
  return undefined;
}

function isSystemError(value: unknown): value is Error & { code: string } {
  return (
    value instanceof Error &&
    "code" in value &&
    typeof value.code === "string" &&
    /^(?:E[A-Z]|UND_ERR|CERT_|DEPTH_|SELF_|UNABLE_|ERR_(?:TLS|SSL|SOCKET|HTTP))/.test(value.code)
  );
}

/** SDKs say "Connection error." without the reason. */
function withRootCause({ message, cause }: VendorFailure): string {
  let root: unknown = cause;
  findInCauses(cause, (value): value is never => {
    root = value instanceof Error ? value : root;
    return false;
  });
  const words = root instanceof Error && root !== cause ? root.message : "";
  if (words === "" || message.includes(words)) return message;
  return `${message.replace(/\.$/, "")}: ${words}`;
}

/** The system's text for a failed connection, e.g. `connect ECONNREFUSED 127.0.0.1:1234`. */
function describeNetworkCause(error: unknown): string | undefined {
  const system = findInCauses(error, isSystemError);
  if (system === undefined) return undefined;
  const words = system.message === "" ? system.code : system.message;
  return words.includes(system.code) ? words : `${words} (${system.code})`;
}
