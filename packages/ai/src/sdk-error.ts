import type { VendorFailure } from "./errors.ts";

/**
 * Reads the errors that vendors' SDKs throw without loading an SDK: `status`, `headers`, and a body
 * of the form `{error: {type | status | code, message}}`, parsed or still as text.
 */
export function readSdkError(error: unknown): VendorFailure {
  const fields = asRecord(error);
  const text = error instanceof Error ? error.message : String(error);
  const outer = asRecord(fields.error ?? parseBody(text));
  const body = asRecord(outer.error ?? outer);
  const words = typeof body.message === "string" && body.message !== "" ? body.message : text;
  const vendorCode = [body.type, fields.type, body.status, body.code, fields.code].find(
    (code) => typeof code === "string" && code !== "" && code !== "error",
  );
  const status = [fields.status, body.code].find((value) => typeof value === "number");
  return {
    message: words,
    ...(typeof status === "number" && { status }),
    ...(typeof vendorCode === "string" && { vendorCode }),
    ...(isHeaders(fields.headers) && { headers: fields.headers }),
    cause: error,
  };
}

function parseBody(text: string): unknown {
  const start = text.indexOf("{");
  if (start < 0) return undefined;
  try {
    return JSON.parse(text.slice(start));
  } catch {
    return undefined;
  }
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? Object.fromEntries(entries(value)) : {};
}

/** SDKs define some fields on the prototype or as not enumerable. */
function entries(value: object): [string, unknown][] {
  const names = ["error", "type", "status", "code", "message", "headers"];
  return names.map((name) => [name, Reflect.get(value, name)]);
}

function isHeaders(value: unknown): value is Pick<Headers, "get"> {
  return typeof value === "object" && value !== null && "get" in value;
}
