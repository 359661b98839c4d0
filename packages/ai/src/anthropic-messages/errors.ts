import { classifyFailure, type ProviderErrorInit } from "../errors.ts";
import { readSdkError } from "../sdk-error.ts";

/** What an error of the vendor's SDK means; an `error` event in the stream looks the same. */
export function classify(error: unknown): ProviderErrorInit {
  return classifyFailure(readSdkError(error));
}
