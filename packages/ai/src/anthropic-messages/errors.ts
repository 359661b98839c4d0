import { classifyFailure, type ProviderErrorInit } from "../errors.ts";
import { readSdkError } from "../sdk-error.ts";

/**
 * Classifies an error of the vendor's SDK; an `error` event in the stream has the same shape. The text
 * contains the vendor's error type, as in `529 overloaded_error: Overloaded`, because clients look for it.
 */
export function classify(error: unknown): ProviderErrorInit {
  const failure = readSdkError(error);
  const { vendorCode = [], message } = failure;
  const [name] = vendorCode;
  const isNamed = name === undefined || message.includes(name);
  return classifyFailure(isNamed ? failure : { ...failure, message: `${name}: ${message}` });
}
