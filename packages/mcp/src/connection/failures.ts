import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { WorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { ProcessError } from "@tau-agent/system";
import { cleanLine } from "../names/clean-text.ts";
import { RequestTimeout } from "./call-clocks.ts";
import { ConfigurationError } from "./resolve-entry.ts";

export class NeedsLogin extends Error {
  override readonly name = "NeedsLogin";
}

export type Failure =
  /** The server answered, so the connection works. */
  | "answered"
  /** The server no longer knows the session named in requests. */
  | "session_gone"
  | "needs_login"
  /** The address answered with a refusal. */
  | "refused"
  /** Trying again would not help. */
  | "final"
  /** The connection is lost, or was never established. */
  | "lost";

const MAX_REASON = 600;

/**
 * The kind of a client library error. Neither its class is checked, because the library is loaded in one
 * place only, nor its name, which the bundler shortens.
 */
export function clientErrorKind(error: unknown): string | undefined {
  const { mcpBrand } = Object(Object(error).constructor) as { mcpBrand?: unknown };
  return typeof mcpBrand === "string" ? mcpBrand.replace(/^mcp\./, "") : undefined;
}

export function failureOf(error: unknown): Failure {
  const { name, code } = Object(error) as { name?: unknown; code?: unknown };
  const kind = clientErrorKind(error);
  if (error instanceof NeedsLogin || kind === "UnauthorizedError") return "needs_login";
  if (kind === "InsufficientScopeError") return "needs_login";
  if (error instanceof ConfigurationError) return "final";
  if (error instanceof ProcessError) return "final";
  // An error of its workspace, which reconnects automatically.
  if (error instanceof WorkspaceError) return error.code === "lost" ? "lost" : "final";
  const status = statusOf(error);
  if (status === 404) return "session_gone";
  if (status === 401) return "needs_login";
  if (status !== undefined) return isTransient(status) ? "lost" : "refused";
  // The codes of JSON-RPC errors are numbers.
  if (typeof code === "number" || name === "AbortError") return "answered";
  if (error instanceof RequestTimeout || code === "INVALID_RESULT") return "answered";
  return "lost";
}

export function statusOf(error: unknown): number | undefined {
  const { status, event } = Object(error) as { status?: unknown; event?: { code?: unknown } };
  if (typeof status === "number") return status;
  // Event streams report the status in another place.
  return typeof event?.code === "number" ? event.code : undefined;
}

function isTransient(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** The problem with a server at an address, including the address and the status, if any. */
export function reasonAt(url: string, error: unknown): string {
  const [address = ""] = url.replace(/\/\/[^/@]*@/, "//").split(/[?#]/);
  const status = statusOf(error);
  const place = status === undefined ? address : `HTTP ${status} from ${address}`;
  return cleanLine(`${place}: ${reasonOf(error)}`, MAX_REASON);
}

/** The problem in one line of limited length. */
export function reasonOf(error: unknown): string {
  const { cause } = Object(error) as { cause?: unknown };
  // The runtime's own message for a failed request says nothing useful.
  const isBare = error instanceof TypeError && cause instanceof Error;
  const reason = errorMessage(isBare ? cause : error);
  const page = reason.search(/<!doctype html|<html/i);
  if (page < 0) return cleanLine(reason, MAX_REASON);
  // HTML, in whose tags people would have to find the reason.
  const status = statusOf(error);
  const answer = status === undefined ? "a web page" : `HTTP ${status} and a web page`;
  return `${cleanLine(reason.slice(0, page), MAX_REASON)} ${answer}; is the url right?`.trim();
}
