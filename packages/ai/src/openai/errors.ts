import { readVendorError } from "../error-body.ts";
import { classifyFailure, type ProviderErrorInit } from "../errors.ts";
import { isHeaders } from "../sdk-error.ts";

/** Classifies an error thrown by the `openai` SDK. */
export function classifyOpenAiError(error: unknown): ProviderErrorInit {
  if (!(error instanceof Error)) return classifyFailure({ message: String(error), cause: error });
  if (!("status" in error) || !("headers" in error)) {
    return classifyFailure({ message: error.message, cause: error });
  }
  const body = "error" in error ? error.error : undefined;
  const vendor = readVendorError(body);
  const status = typeof error.status === "number" ? error.status : vendor?.status;
  return classifyFailure({
    message: vendor?.message || error.message,
    status,
    vendorCode: vendor?.vendorCode,
    body,
    ...(isHeaders(error.headers) && { headers: error.headers }),
    cause: error,
  });
}
