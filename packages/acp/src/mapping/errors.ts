import { RequestError } from "@agentclientprotocol/sdk";
import { CodedError } from "@tau-agent/rpc-protocol/plain";

/** Without a key or model no prompt can be answered; the client offers its ways to log in. */
const authCodes: ReadonlySet<string> = new Set(["no_key", "no_model", "key_unresolved"]);

/** The request itself is at fault. */
const paramCodes: ReadonlySet<string> = new Set([
  "invalid_image",
  "image_unusable",
  "invalid_attachment",
  "invalid_params",
  "prompt_empty",
]);

/** An error with its JSON-RPC code, as the client receives it. */
export function requestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof CodedError) return codedError(error.code, error.message);
  const message = error instanceof Error ? error.message : String(error);
  return new RequestError(-32603, message === "" ? "Internal error" : message);
}

/** An error with one of Tau's codes; of the vendors' codes, only `auth` is mapped. */
export function codedError(code: string | undefined, message: string): RequestError {
  return new RequestError(rpcCodeOf(code), message, code === undefined ? undefined : { code });
}

function rpcCodeOf(code: string | undefined): number {
  if (code === undefined) return -32603;
  if (authCodes.has(code) || code === "auth") return -32000;
  if (code === "session_not_found") return -32002;
  return paramCodes.has(code) ? -32602 : -32603;
}

export function invalidParams(field: string, reason: string): RequestError {
  return new RequestError(-32602, `Invalid params: ${field}: ${reason}`, { field, reason });
}
