import { classifyFailure, type ProviderErrorInit } from "../errors.ts";
import { readSdkError } from "../sdk-error.ts";

/**
 * What an error of the vendor's SDK means; an `error` event in the stream looks the same. The text
 * names the vendor's error type, as in `529 overloaded_error: Overloaded`: clients look for it.
 */
export function classify(error: unknown): ProviderErrorInit {
  const failure = readSdkError(error);
  const { vendorCode = [], message } = failure;
  const [name] = vendorCode;
  const isNamed = name === undefined || message.includes(name);
  return classifyFailure(isNamed ? failure : { ...failure, message: `${name}: ${message}` });
}
