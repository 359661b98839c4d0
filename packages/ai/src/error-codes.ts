import type { ModelErrorCode } from "@tau-agent/rpc-protocol/plain";

/** What went wrong with a request, independent of the vendor. */
export type ProviderErrorCode = ModelErrorCode;

/**
 * The meaning of vendors' error types and codes, from their references. The numbers are those of z.ai and
 * MiniMax. `quota` contains errors that a retry cannot resolve: the account has no money left, or the plan is
 * exhausted for hours or days.
 */
const meanings: Readonly<Partial<Record<ProviderErrorCode, readonly string[]>>> = {
  quota: [
    // Anthropic, OpenAI, Moonshot.
    "billing_error",
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "exceeded_current_quota_error",
    // z.ai: payment overdue, plan limit reached, plan expired, weekly or monthly limit reached.
    "1113",
    "1308",
    "1309",
    "1310",
    // MiniMax: insufficient balance, plan limit reached.
    "1008",
    "2056",
    // Alibaba, Groq, and gateways that forward the reason of a 402 without the status.
    "Arrearage",
    "blocked_api_access",
    "insufficient_balance",
    "insufficient_credits",
    "insufficient_funds",
    "payment_required",
    // Plans of ChatGPT and OpenCode.
    "usage_limit_reached",
    "usage_not_included",
    "CreditsError",
    "MonthlyLimitError",
    "GoUsageLimitError",
    // Bedrock.
    "ServiceQuotaExceededException",
    "FreeUsageLimitError",
  ],
  auth: [
    "authentication_error",
    "permission_error",
    "invalid_api_key",
    "invalid_authentication_error",
    "incorrect_api_key_error",
    "PERMISSION_DENIED",
    "UNAUTHENTICATED",
    "AccessDeniedException",
    "CredentialsProviderError",
    "ExpiredTokenException",
    "InvalidSignatureException",
    "UnrecognizedClientException",
  ],
  rate_limited: [
    "rate_limit_error",
    "rate_limit_exceeded",
    "rate_limit_reached_error",
    "too_many_requests",
    "limit_requests",
    "limit_burst_rate",
    "RESOURCE_EXHAUSTED",
    "ThrottlingException",
    "TooManyRequestsException",
    "1302",
    "1303",
    "1305",
  ],
  overloaded: [
    "overloaded_error",
    "engine_overloaded_error",
    "service_unavailable",
    "slow_down",
    "UNAVAILABLE",
    "ModelErrorException",
    "ModelNotReadyException",
    "ModelStreamErrorException",
    "ServiceUnavailableException",
    "1312",
    // General codes: a more specific code in the same error takes precedence.
    "api_error",
    "server_error",
    "internal_error",
    "internal_server_error",
    "INTERNAL",
    "InternalServerException",
  ],
  timeout: ["vector_store_timeout", "timeout_error", "DEADLINE_EXCEEDED", "ModelTimeoutException"],
  context_overflow: [
    "context_length_exceeded",
    "model_context_window_exceeded",
    "request_too_large",
    "1261",
  ],
  content_filtered: [
    "content_filter",
    "content_policy_violation",
    "image_content_policy_violation",
    "1301",
  ],
  invalid_request: [
    "invalid_request_error",
    "not_found_error",
    "INVALID_ARGUMENT",
    "FAILED_PRECONDITION",
    "NOT_FOUND",
    "ResourceNotFoundException",
    "ValidationException",
    // Problems with an image in a request.
    "empty_image_file",
    "failed_to_download_image",
    "image_file_not_found",
    "image_file_too_large",
    "image_parse_error",
    "image_too_large",
    "image_too_small",
    "model_not_found",
    "string_above_max_length",
  ],
};

/** The precedence of codes in one error: from the most final to the least specific. */
const order = [
  "quota",
  "context_overflow",
  "content_filtered",
  "rate_limited",
  "auth",
  "timeout",
  "overloaded",
  "invalid_request",
] as const satisfies readonly ProviderErrorCode[];

/** Codes for an invalid request, whichever part of it is wrong: `invalid_prompt`, `unsupported_value`. */
const faultOfRequest = /^(?:invalid|unsupported|missing)_[a-z_]+$|^unknown_parameter$/;

/** The combined meaning of an error's codes; undefined if none is known. */
export function meaningOf(codes: readonly string[]): ProviderErrorCode | undefined {
  const known = order.find((meaning) => meanings[meaning]?.some((code) => codes.includes(code)));
  return known ?? (codes.some((code) => faultOfRequest.test(code)) ? "invalid_request" : undefined);
}
