import { parseJson } from "@tau-agent/rpc-protocol/plain";
import { awsName, readVendorError } from "../error-body.ts";
import { classifyFailure, type ProviderErrorInit } from "../errors.ts";

/** Classifies an error of the vendor's SDK; exceptions within a stream have the same form. */
export function classify(error: unknown): ProviderErrorInit {
  if (!(error instanceof Error)) return classifyFailure({ message: String(error), cause: error });
  const name = textOf(error.name);
  const message = textOf(error.message);
  if (/Credential|TokenProvider/.test(name) && !/fetch failed/.test(message)) {
    return classifyFailure({
      message: `No AWS credentials: ${message} Set AWS_BEARER_TOKEN_BEDROCK, AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`,
      vendorCode: "CredentialsProviderError",
      cause: error,
    });
  }
  const isBroken = /checksum|CRC|Truncated event|Unrecognizable event/i.test(message);
  if (isBroken || error instanceof RangeError) {
    return {
      code: "network",
      message: `The server sent a damaged event: ${message}`,
      cause: error,
    };
  }
  if (!/Exception$/.test(name)) return classifyFailure({ message, cause: error });
  // An exception unknown to the SDK has its JSON as message and keeps its wire name.
  const { message: inner } = parse(message) ?? {};
  const words = typeof inner === "string" ? inner : message;
  const code = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return classifyFailure({ message: named(code, words), vendorCode: code, cause: error });
}

/** The SDK does not validate the members of an exception: they may be any JSON. */
function textOf(member: unknown): string {
  return typeof member === "string" ? member : (JSON.stringify(member) ?? "");
}

export async function classifyResponse(response: Response): Promise<ProviderErrorInit> {
  const { status, statusText, headers } = response;
  const text = await response.text();
  const body = parse(text);
  const { message, vendorCode } = readVendorError(body ?? text) ?? { message: "", vendorCode: [] };
  const name = awsName(headers.get("x-amzn-errortype")) ?? vendorCode.find(isException) ?? "";
  return classifyFailure({
    message: named(name, message || statusText),
    status,
    headers,
    body,
    vendorCode: [name, ...vendorCode].filter((code) => code !== ""),
  });
}

function isException(code: string): boolean {
  return /Exception$/.test(code);
}

/** Clients look for the name of the exception. */
function named(name: string, message: string): string {
  return name === "" || message.includes(name) ? message : `${name}: ${message}`;
}

function parse(text: string): Record<string, unknown> | undefined {
  const value = parseJson(text);
  return typeof value === "object" && value !== null ? { ...value } : undefined;
}
