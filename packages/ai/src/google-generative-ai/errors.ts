import { classifyFailure, type ProviderErrorInit } from "../errors.ts";
import { readSdkError } from "../sdk-error.ts";

export function classify(error: unknown): ProviderErrorInit {
  return classifyResponse(error, undefined);
}

/** Also takes the response's headers, which the SDK's errors do not include. */
export function classifyResponse(error: unknown, headers: Headers | undefined): ProviderErrorInit {
  const failure = readSdkError(error);
  // The SDK's message for a body that is truncated or not JSON.
  const isBroken = /^(?:Incomplete JSON segment|exception parsing stream chunk)/.test(
    failure.message,
  );
  const message = isBroken ? "The connection ended in the middle of an event" : failure.message;
  return classifyFailure({ ...failure, message, ...(headers && { headers }) });
}
