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
