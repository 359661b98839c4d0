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
  /** The server answered: the connection is fine. */
  | "answered"
  /** The server no longer knows the session that requests name. */
  | "session_gone"
  | "needs_login"
  /** The address answered with a refusal. */
  | "refused"
  /** Trying again changes nothing. */
  | "final"
  /** The connection is lost, or was never there. */
  | "lost";

const MAX_REASON = 600;

/**
 * The kind of an error of the client library. Its class is not asked for: the library is loaded in one place
 * only; nor its name, which the bundler shortens.
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
  // Of its workspace, which is connected again by itself.
  if (error instanceof WorkspaceError) return error.code === "lost" ? "lost" : "final";
  const status = statusOf(error);
  if (status === 404) return "session_gone";
  if (status === 401) return "needs_login";
  if (status !== undefined) return isTransient(status) ? "lost" : "refused";
  // JSON-RPC errors have numbers as codes.
  if (typeof code === "number" || name === "AbortError") return "answered";
  if (error instanceof RequestTimeout || code === "INVALID_RESULT") return "answered";
  return "lost";
}

export function statusOf(error: unknown): number | undefined {
  const { status, event } = Object(error) as { status?: unknown; event?: { code?: unknown } };
  if (typeof status === "number") return status;
  // Event streams report it in another place.
  return typeof event?.code === "number" ? event.code : undefined;
}

function isTransient(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** What went wrong with a server at an address: with the address, and the status if it gave one. */
export function reasonAt(url: string, error: unknown): string {
  const [address = ""] = url.replace(/\/\/[^/@]*@/, "//").split(/[?#]/);
  const status = statusOf(error);
  const place = status === undefined ? address : `HTTP ${status} from ${address}`;
  return cleanLine(`${place}: ${reasonOf(error)}`, MAX_REASON);
}

/** What went wrong, in one line of a sensible length. */
export function reasonOf(error: unknown): string {
  const { cause } = Object(error) as { cause?: unknown };
  // The runtime's own words for a failed request say nothing.
  const isBare = error instanceof TypeError && cause instanceof Error;
  const reason = errorMessage(isBare ? cause : error);
  const page = reason.search(/<!doctype html|<html/i);
  if (page < 0) return cleanLine(reason, MAX_REASON);
  // People who read it would have to find the reason in its tags.
  const status = statusOf(error);
  const answer = status === undefined ? "a web page" : `HTTP ${status} and a web page`;
  return `${cleanLine(reason.slice(0, page), MAX_REASON)} ${answer}; is the url right?`.trim();
}
