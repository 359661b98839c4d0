import { isJsonObject, parseJson } from "@tau-agent/rpc-protocol/plain";
import { classifyFailure, ProviderError } from "./errors.ts";

/** The error members that servers send, in a body or in the stream. */
export interface VendorError {
  readonly message: string;
  readonly vendorCode: readonly string[];
  readonly status: number | undefined;
}

/** The failure that a vendor's error object in the stream stands for. */
export function streamedError(value: unknown): ProviderError {
  const vendor = readVendorError(value);
  const failure = classifyFailure({
    message: vendor?.message || "The server reported an error without saying which",
    vendorCode: vendor?.vendorCode,
    status: vendor?.status,
    body: value,
  });
  // An error amid a reply that names nothing known is the server's own trouble: worth another try.
  const code = failure.code === "unknown" ? "overloaded" : failure.code;
  return new ProviderError({ ...failure, code });
}

/**
 * The failure that a body means which came instead of a stream: with status 200 and as JSON or text, as some
 * servers and gateways answer a request that they refuse.
 */
export function errorOfBody(text: string): ProviderError {
  const body = parseJson(text, text.trim());
  return streamedError(Array.isArray(body) ? body[0] : body);
}

/** Reads an error object, a bare text, or a wrapper around either. */
export function readVendorError(value: unknown): VendorError | undefined {
  if (typeof value === "string") return { message: value, vendorCode: [], status: undefined };
  if (!isJsonObject(value)) return undefined;
  if (isJsonObject(value.error)) return readVendorError(value.error);
  const own = [value.message, value.Message, value.detail].map(textOf).find((text) => text);
  const raw = isJsonObject(value.metadata) ? textOf(value.metadata.raw) : undefined;
  const numeric = Number(value.code ?? value.status_code ?? value.status);
  const status = numeric >= 400 && numeric < 600 ? numeric : undefined;
  const codes = [value.code, value.type, awsName(value.__type), value.status].flatMap(
    (code) => textOf(code) ?? [],
  );
  const words = own ?? JSON.stringify(value);
  return {
    // OpenRouter hides the upstream's own words in its metadata.
    message: raw === undefined ? words : `${words}: ${raw}`,
    // OpenAI gives this type to wrong keys and missing models alike: the status says more.
    vendorCode: codes.filter((code) => code !== "invalid_request_error" && code !== String(status)),
    status,
  };
}

/** AWS's names of exceptions come with a namespace, an address, or neither. */
export function awsName(value: unknown): string | undefined {
  return textOf(value)?.replace(/:.*$/s, "").replace(/^.*#/, "");
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value;
  if (typeof value === "number") return String(value);
  return value === undefined || value === null ? undefined : JSON.stringify(value);
}
