import { parseJson } from "@tau-agent/rpc-protocol/plain";
import type { VendorFailure } from "./errors.ts";

/**
 * Reads errors thrown by vendors' SDKs without loading an SDK: `status`, `headers`, and a body of the form
 * `{error: {type | status | code, message}}`, parsed or as text.
 */
export function readSdkError(error: unknown): VendorFailure {
  const fields = asRecord(error);
  const text = error instanceof Error ? error.message : String(error);
  const whole = unwrapList(fields.error ?? parseBody(text));
  const outer = asRecord(whole);
  const body = asRecord(outer.error ?? outer);
  const words = typeof body.message === "string" && body.message !== "" ? body.message : text;
  const vendorCode = [body.type, fields.type, body.status, body.code, fields.code].flatMap(asCode);
  const status = [fields.status, body.code].find(isStatus);
  return {
    message: words,
    ...(status !== undefined && { status }),
    ...(vendorCode.length > 0 && { vendorCode }),
    ...(isHeaders(fields.headers) && { headers: fields.headers }),
    ...(whole !== undefined && { body: whole }),
    cause: error,
  };
}

/** A vendor's code as a list to spread; a number that is not an HTTP status counts as a code. */
function asCode(code: unknown): string[] {
  if (typeof code === "number") return isStatus(code) ? [] : [String(code)];
  return typeof code === "string" && code !== "" && code !== "error" ? [code] : [];
}

function isStatus(value: unknown): value is number {
  return typeof value === "number" && value >= 400 && value < 600;
}

/** Google answers some requests with a list that contains one error. */
function unwrapList(body: unknown): unknown {
  return Array.isArray(body) ? body[0] : body;
}

function parseBody(text: string): unknown {
  const start = text.search(/[[{]/);
  return start < 0 ? undefined : parseJson(text.slice(start));
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? Object.fromEntries(entries(value)) : {};
}

/** SDKs define some fields on the prototype or as non-enumerable. */
function entries(value: object): [string, unknown][] {
  const names = ["error", "type", "status", "code", "message", "headers"];
  return names.map((name) => [name, Reflect.get(value, name)]);
}

export function isHeaders(value: unknown): value is Pick<Headers, "get"> {
  return typeof value === "object" && value !== null && "get" in value;
}
