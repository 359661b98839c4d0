import {
  errorMessage,
  isJsonObject,
  type JsonObject,
  parseObject,
} from "@tau-agent/rpc-protocol/plain";
import { boundedBytes, isLoopback } from "@tau-agent/system";
import type { LoginContext } from "./login-definition.ts";

const maxBytes = 1024 * 1024;
const limitMs = 30_000;

export interface TokenReply {
  readonly status: number;
  /** Empty if the body is not a JSON object. */
  readonly body: JsonObject;
}

export interface TokenRequest {
  readonly url: string;
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  /** Form fields or, with `json`, members of an object. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly json?: boolean;
}

/** A login server could not be reached, or gave no valid answer. Another attempt may succeed. */
export class LoginServerError extends Error {
  override readonly name = "LoginServerError";
}

/** A login server has refused: another attempt with the same tokens will fail, too. */
export class LoginRefused extends Error {
  override readonly name = "LoginRefused";
}

/**
 * Sends a request that carries secrets: only over https or to this machine, without following
 * redirects, and within limits of time and size.
 *
 * @throws {LoginServerError} if there is no answer
 */
export async function sendTokenRequest(
  { url, method = "POST", headers = {}, fields = {}, json = false }: TokenRequest,
  { fetch, signal }: Pick<LoginContext, "fetch" | "signal">,
): Promise<TokenReply> {
  const { host } = safeAddress(url);
  const type = json ? "application/json" : "application/x-www-form-urlencoded";
  const body = json ? JSON.stringify(fields) : new URLSearchParams(fields).toString();
  try {
    const response = await fetch(url, {
      method,
      redirect: "error",
      headers: {
        accept: "application/json",
        ...(method === "POST" && { "content-type": type }),
        ...headers,
      },
      ...(method === "POST" && { body }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(limitMs)]),
    });
    return { status: response.status, body: await readObject(response) };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw new LoginServerError(`${host} did not answer: ${reasonOf(error)}`, { cause: error });
  }
}

/** The reply's members if it is a success; otherwise throws an error that says whether it is final. */
export function tokensOf(reply: TokenReply, url: string, secrets: readonly string[]): JsonObject {
  const { status, body } = reply;
  const isSuccess = status >= 200 && status < 300 && body.error === undefined;
  if (isSuccess) return body;
  const said = `${new URL(url).host} answered: ${describe(reply, secrets)}`;
  const mayPass = status >= 500 || status === 408 || status === 429;
  throw mayPass ? new LoginServerError(said) : new LoginRefused(said);
}

/** A server's description of an error, without secrets that it may repeat. */
export function describe({ status, body }: TokenReply, secrets: readonly string[]): string {
  const { error, error_description: description, message } = body;
  const nested = isJsonObject(error) ? (error.message ?? error.code) : error;
  const words = [nested, description, message].filter((word) => typeof word === "string");
  let text = [...new Set(words)].join(": ");
  for (const secret of secrets) if (secret !== "") text = text.replaceAll(secret, "…");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+/g, " ");
  return line === "" ? `HTTP ${status}` : `${line.slice(0, 300)} (HTTP ${status})`;
}

/**
 * An address that may carry secrets.
 *
 * @throws {LoginRefused} for any other
 */
export function safeAddress(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isSafe =
    parsed?.protocol === "https:" || (parsed?.protocol === "http:" && isLoopback(parsed.hostname));
  if (parsed !== undefined && isSafe) return parsed;
  throw new LoginRefused(`the address ${url.slice(0, 200)} is neither https nor on this machine`);
}

async function readObject(response: Response): Promise<JsonObject> {
  if (response.body === null) return {};
  const tooLarge = () => new Error(`the answer is larger than ${maxBytes / 1024 / 1024} MiB`);
  const bytes = await boundedBytes(response.body, maxBytes, tooLarge);
  return parseObject(bytes.toString("utf8")) ?? {};
}

/** The cause of a failed connection, which `fetch` hides in its error. */
function reasonOf(error: unknown): string {
  const { cause } = Object(error) as { cause?: unknown };
  const inner = cause instanceof Error ? cause.message || Object(cause).code : undefined;
  return inner === undefined ? errorMessage(error) : String(inner);
}
