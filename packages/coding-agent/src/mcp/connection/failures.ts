import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { ProcessError } from "../../processes/process-error.ts";
import { cleanLine } from "../names/clean-text.ts";
import { RequestTimeout } from "./call-clocks.ts";
import { ConfigurationError } from "./resolve-entry.ts";

/** A server wants a login first. */
export class NeedsLogin extends Error {
  override readonly name = "NeedsLogin";
}

/** What an error of a request says about the connection. */
export type Failure =
  /** The server answered: the connection is fine. */
  | "answered"
  /** The server no longer knows the session that requests name. */
  | "session_gone"
  | "needs_login"
  /** Trying again changes nothing. */
  | "final"
  /** The connection is lost, or was never there. */
  | "lost";

const MAX_REASON = 600;

/** Judges an error. Its class is not asked for: the library is loaded in one place only. */
export function failureOf(error: unknown): Failure {
  const { name, code } = Object(error) as { name?: unknown; code?: unknown };
  if (error instanceof NeedsLogin || name === "UnauthorizedError") return "needs_login";
  if (name === "InsufficientScopeError") return "needs_login";
  if (error instanceof ConfigurationError) return "final";
  if (error instanceof ProcessError) return "final";
  const status = statusOf(error);
  if (status === 404) return "session_gone";
  if (status === 401) return "needs_login";
  if (status !== undefined) return isTransient(status) ? "lost" : "final";
  // JSON-RPC errors have numbers as codes.
  if (typeof code === "number" || name === "AbortError") return "answered";
  if (error instanceof RequestTimeout || code === "INVALID_RESULT") return "answered";
  return "lost";
}

/** The HTTP status of an answer that was refused. */
export function statusOf(error: unknown): number | undefined {
  const { status, event } = Object(error) as { status?: unknown; event?: { code?: unknown } };
  if (typeof status === "number") return status;
  // Event streams report it in another place.
  return typeof event?.code === "number" ? event.code : undefined;
}

function isTransient(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** What went wrong, in one line of a sensible length. */
export function reasonOf(error: unknown): string {
  const { cause } = Object(error) as { cause?: unknown };
  // The runtime's own words for a failed request say nothing.
  const isBare = error instanceof TypeError && cause instanceof Error;
  return cleanLine(errorMessage(isBare ? cause : error), MAX_REASON);
}
