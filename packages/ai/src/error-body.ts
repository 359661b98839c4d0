import { isJsonObject, parseJson } from "@tau-agent/rpc-protocol/plain";
import { classifyFailure, ProviderError } from "./errors.ts";

/** The error members that servers send, in a body or in the stream. */
export interface VendorError {
  readonly message: string;
  readonly vendorCode: readonly string[];
  readonly status: number | undefined;
}

/** The failure described by a vendor's error object in the stream. */
export function streamedError(value: unknown): ProviderError {
  const vendor = readVendorError(value);
  const failure = classifyFailure({
    message: vendor?.message || "The server reported an error without saying which",
    vendorCode: vendor?.vendorCode,
    status: vendor?.status,
    body: value,
  });
  // An unknown error in the middle of a reply is a problem of the server and worth a retry.
  const code = failure.code === "unknown" ? "overloaded" : failure.code;
  return new ProviderError({ ...failure, code });
}

/**
 * The failure described by a body that was sent instead of a stream: some servers and gateways refuse a
 * request with status 200 and JSON or text.
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
    // OpenRouter hides the upstream's error text in its metadata.
    message: raw === undefined ? words : `${words}: ${raw}`,
    // OpenAI uses this type both for wrong keys and for missing models, so the status is more precise.
    vendorCode: codes.filter((code) => code !== "invalid_request_error" && code !== String(status)),
    status,
  };
}

/** AWS exception names come with a namespace, with an address, or alone. */
export function awsName(value: unknown): string | undefined {
  return textOf(value)?.replace(/:.*$/s, "").replace(/^.*#/, "");
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value;
  if (typeof value === "number") return String(value);
  return value === undefined || value === null ? undefined : JSON.stringify(value);
}
