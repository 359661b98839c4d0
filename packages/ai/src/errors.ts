/** What went wrong with a request, independent of the vendor. */
export type ProviderErrorCode =
  | "auth"
  | "quota"
  | "rate_limited"
  | "overloaded"
  | "context_overflow"
  | "invalid_request"
  | "content_filtered"
  | "network"
  | "timeout"
  | "aborted"
  | "unknown";

/** Facts about a failed request. */
export interface ProviderErrorInit {
  readonly code: ProviderErrorCode;
  /** Status and body (or cause) in words; keys are redacted. */
  readonly message: string;
  readonly status?: number | undefined;
  /** How long the vendor asks to wait, in ms. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

const retryableCodes: ReadonlySet<ProviderErrorCode> = new Set([
  "rate_limited",
  "overloaded",
  "network",
  "timeout",
]);

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
    return retryableCodes.has(this.code);
  }
}

/** Recognises a {@link ProviderError} also when it comes from another installed copy. */
export function isProviderError(value: unknown): value is ProviderError {
  return typeof value === "object" && value !== null && brand in value;
}

/** What a vendor's SDK tells about a failure, in the common terms of HTTP. */
export interface VendorFailure {
  /** The vendor's own words: body text or error message. */
  readonly message: string;
  readonly status?: number | undefined;
  readonly headers?: Pick<Headers, "get"> | undefined;
  /** The vendor's error type or code, when it sends one. */
  readonly vendorCode?: string | undefined;
  /** The thrown value; its chain of causes is searched for network errors. */
  readonly cause?: unknown;
}

const vendorCodes: Readonly<Record<string, ProviderErrorCode>> = {
  authentication_error: "auth",
  permission_error: "auth",
  invalid_api_key: "auth",
  PERMISSION_DENIED: "auth",
  UNAUTHENTICATED: "auth",
  billing_error: "quota",
  insufficient_quota: "quota",
  GoUsageLimitError: "quota",
  FreeUsageLimitError: "quota",
  "1308": "quota",
  rate_limit_error: "rate_limited",
  rate_limit_exceeded: "rate_limited",
  RESOURCE_EXHAUSTED: "rate_limited",
  overloaded_error: "overloaded",
  api_error: "overloaded",
  server_error: "overloaded",
  internal_error: "overloaded",
  INTERNAL: "overloaded",
  UNAVAILABLE: "overloaded",
  timeout_error: "timeout",
  DEADLINE_EXCEEDED: "timeout",
  context_length_exceeded: "context_overflow",
  model_context_window_exceeded: "context_overflow",
  request_too_large: "context_overflow",
  invalid_request_error: "invalid_request",
  not_found_error: "invalid_request",
  INVALID_ARGUMENT: "invalid_request",
  FAILED_PRECONDITION: "invalid_request",
  NOT_FOUND: "invalid_request",
  content_filter: "content_filtered",
  content_policy_violation: "content_filtered",
};

const quotaText =
  /insufficient[_ ]quota|quota exceeded|exceeded your (?:current )?quota|billing|out of budget|monthly usage limit|credit balance|available balance|insufficient (?:credits?|balance|funds)|usage[_ ]limit[_ ](?:reached|exceeded)|(?:Go|Free)UsageLimitError|payment required/i;

const throttleText =
  /throttl|rate.?limit|too many requests|resource ?exhausted|(?<![\w.-])429(?![\w-])/i;

const overflowText = [
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
  /^4(?:00|13) (?:status code )?\(no body\)/i,
];

const overloadText =
  /overloaded|server busy|high demand|at capacity|peak load|temporarily unavailable|service unavailable|server[ _]error|internal[ _]error|upstream (?:connect|request failed|provider error)|provider returned error|unable to forward upstream|you can retry your request/i;

const networkText =
  /connection (?:error|refused|reset|lost|ended)|other side closed|fetch failed|socket (?:hang up|closed)|reset before headers|terminated|network error|network connection lost|unable to connect|getaddrinfo|ENOTFOUND|EAI_AGAIN|ECONNRE(?:FUSED|SET)|http\/?2|stream (?:disconnected|interrupted|ended)|premature close|ended (?:without|before)/i;

const timeoutText = /timed? ?out|ETIMEDOUT/i;

const maxMessageLength = 4_000;

/** Whether an error text says that the conversation no longer fits the model's window. */
export function isContextOverflow(text: string): boolean {
  return !throttleText.test(text) && overflowText.some((pattern) => pattern.test(text));
}

/**
 * Turns a failure into our terms: vendor code and status first, text last, so that digits in an id
 * decide nothing. Quota and overflow are recognised by text too, because vendors send them under
 * the status of something else.
 */
export function classifyFailure(given: VendorFailure): ProviderErrorInit {
  const known = findInCauses(given.cause, isProviderError);
  if (known !== undefined) return known;
  const message = clip(given.message);
  const status = given.status ?? leadingStatus(message);
  const failure = { ...given, message, ...(status !== undefined && { status }) };
  if (findInCauses(failure.cause, isSyntaxError) !== undefined) return brokenEvent(failure);
  const { headers } = failure;
  const network = status === undefined ? describeNetworkCause(failure.cause) : undefined;
  const words = network ?? (status === undefined ? withRootCause(failure) : failure.message);
  const prefix = status === undefined || words.startsWith(String(status)) ? "" : `${status} `;
  const code = network === undefined ? classifyResponse(failure) : networkCode(network);
  const retryAfterMs = code === "quota" ? undefined : readRetryAfter(headers, failure.message);
  return {
    code,
    message: redactSecrets(prefix + words),
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(failure.cause !== undefined && { cause: failure.cause }),
  };
}

/** SDKs put the status first, and who passes on their words alone passes it on. */
function leadingStatus(message: string): number | undefined {
  const found = /^([45]\d\d)(?= status code| \{|$)/.exec(message);
  return found === null ? undefined : Number(found[1]);
}

/** Proxies answer with whole web pages; the first lines say enough. */
function clip(text: string): string {
  const rest = text.length - maxMessageLength;
  return rest <= 0 ? text : `${text.slice(0, maxMessageLength)}… (${rest} more characters)`;
}

function isSyntaxError(value: unknown): value is SyntaxError {
  return value instanceof SyntaxError;
}

/** SDKs pass on what JSON.parse throws; a proxy's page or a cut connection is behind it. */
function brokenEvent({ status, cause }: VendorFailure): ProviderErrorInit {
  const message = "The server sent an event that is not JSON";
  return { code: "network", message, cause, ...(status !== undefined && { status }) };
}

function networkCode(text: string): ProviderErrorCode {
  return timeoutText.test(text) ? "timeout" : "network";
}

function classifyResponse({ status, vendorCode, message }: VendorFailure): ProviderErrorCode {
  const byCode = vendorCode === undefined ? undefined : vendorCodes[vendorCode];
  if (byCode === "quota" || status === 402) return "quota";
  if (byCode !== "auth" && quotaText.test(message) && (status ?? 429) < 500) return "quota";
  if (byCode === "context_overflow" || status === 413) return "context_overflow";
  const isThrottle = byCode === "rate_limited" || status === 429;
  if (!isThrottle && isContextOverflow(message)) return "context_overflow";
  return byCode ?? classifyStatus(status) ?? classifyText(message);
}

function classifyStatus(status: number | undefined): ProviderErrorCode | undefined {
  if (status === undefined) return undefined;
  if (status === 401 || status === 403) return "auth";
  if (status === 408 || status === 504 || status === 524) return "timeout";
  if (status === 429) return "rate_limited";
  if (status >= 500) return "overloaded";
  return status >= 400 ? "invalid_request" : undefined;
}

function classifyText(text: string): ProviderErrorCode {
  if (throttleText.test(text)) return "rate_limited";
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

/** SDKs say "Connection error." and keep to themselves what it was. */
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

/** The system's words for a failed connection, e.g. `connect ECONNREFUSED 127.0.0.1:1234`. */
function describeNetworkCause(error: unknown): string | undefined {
  const system = findInCauses(error, isSystemError);
  if (system === undefined) return undefined;
  const words = system.message === "" ? system.code : system.message;
  return words.includes(system.code) ? words : `${words} (${system.code})`;
}

/** How long a vendor asks to wait, in ms: `retry-after(-ms)`, reset headers, or words in the body. */
export function readRetryAfter(
  headers: Pick<Headers, "get"> | undefined,
  body = "",
  now = Date.now(),
): number | undefined {
  const precise = Number.parseFloat(headers?.get("retry-after-ms") ?? "");
  if (precise >= 0) return precise;
  const plain = headers?.get("retry-after") ?? "";
  if (/^\d+(?:\.\d+)?$/.test(plain)) return Number(plain) * 1000;
  const date = plain === "" ? Number.NaN : Date.parse(plain);
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  for (const name of ["anthropic-ratelimit-unified-reset", "x-ratelimit-reset"]) {
    const reset = Number.parseFloat(headers?.get(name) ?? "");
    if (reset > 0) return Math.max(0, resetTime(reset, now) - now);
  }
  const words =
    /(?:try again in|retry in|"retryDelay":\s*")\s*(\d+(?:\.\d+)?)\s*(ms|s|seconds?|m|minutes?)\b/i.exec(
      body,
    );
  if (words?.[1] === undefined || words[2] === undefined) return undefined;
  const unit = words[2].toLowerCase();
  return Number(words[1]) * (unit === "ms" ? 1 : unit.startsWith("s") ? 1000 : 60_000);
}

/** Reset headers hold epoch ms, epoch seconds or seconds from now; their size tells which. */
function resetTime(value: number, now: number): number {
  if (value > 1e11) return value;
  return value > 1e8 ? value * 1000 : now + value * 1000;
}

const secretText =
  /\b(?:sk|pk|rk|gsk|xai|csk|nvapi|hf|r8|ghp|gho|github_pat)[-_][\w-]{12,}|\bAIza[\w-]{20,}|(?<=\bBearer\s+)[\w.~+/=-]{8,}|(?<=[?&](?:key|api_key|access_token)=)[^&\s"']+|(?<=(?:x-api-key|x-goog-api-key|authorization)["']?\s*[:=]\s*["']?)(?!Bearer\b)[\w.~+/=-]{8,}/gi;

/** Replaces what looks like a key or token. */
export function redactSecrets(text: string): string {
  return text.replace(secretText, "[redacted]");
}
