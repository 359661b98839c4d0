import { boundReplies } from "./bounded-reply.ts";
import { ProviderError } from "./errors.ts";
import { HeaderList } from "./transport/header-list.ts";

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const maxRedirects = 5;

type Fetch = typeof globalThis.fetch;

/**
 * Wraps `fetch` so that a request with a key is never sent to another origin: redirects within one origin are
 * followed, others refused.
 */
export function guardRedirects(fetch: Fetch): Fetch {
  return async (input, init) => {
    let url = isRequest(input) ? input.url : input;
    let response = await fetch(input, { ...init, redirect: "manual" });
    let request: RequestInit = init ?? {};
    for (let count = 0; redirects.has(response.status); count++) {
      const location = response.headers.get("location");
      if (location === null) return response;
      const from = new URL(url);
      const target = new URL(location, from);
      await response.body?.cancel();
      refuse(from, target, count);
      request = repeat(request, response.status, input);
      url = target;
      response = await fetch(url, { ...request, redirect: "manual" });
    }
    return response;
  };
}

function refuse(from: URL, to: URL, count: number): void {
  const problem =
    from.origin !== to.origin
      ? `to another origin (${to.origin}); set the model's baseUrl to the final address`
      : count >= maxRedirects
        ? "too many times"
        : undefined;
  if (problem === undefined) return;
  throw new ProviderError({
    code: "invalid_request",
    message: `${from.origin} redirects the request ${problem}`,
  });
}

/** Checked this way, because a reference to `Request` would load Node's whole `fetch`. */
function isRequest(input: string | URL | Request): input is Request {
  return typeof input !== "string" && !(input instanceof URL);
}

/** The request that follows a redirect; 307 and 308 keep method and body. */
function repeat(request: RequestInit, status: number, input: string | URL | Request): RequestInit {
  if (status === 303 || (status < 303 && request.method === "POST")) {
    const { body: _, ...rest } = request;
    return { ...rest, method: "GET" };
  }
  if (isRequest(input) || request.body instanceof ReadableStream) {
    throw new ProviderError({
      code: "invalid_request",
      message: "The server redirects a request whose body cannot be sent again",
    });
  }
  return request;
}

/**
 * The `fetch` for a vendor: it sends exactly the credentials and headers in `own`, never sends them to
 * another origin, and limits the size of responses.
 */
export function vendorFetch(fetch: Fetch, own: Readonly<Record<string, string | null>>): Fetch {
  return withOwnHeaders(boundReplies(guardRedirects(fetch)), own);
}

/** Headers that an SDK may set itself: the type of the body and its own name. */
const sdkHeaders: readonly string[] = [
  "accept",
  "anthropic-version",
  "content-type",
  "user-agent",
  "x-goog-api-client",
];

/**
 * Wraps `fetch` so that it sends exactly the credentials and extra headers in `own`. SDKs add what they find
 * in the environment (`OPENAI_CUSTOM_HEADERS` and the like), whatever server they talk to, but a header meant
 * for one vendor must not reach another. `null` deletes a header.
 */
function withOwnHeaders(fetch: Fetch, own: Readonly<Record<string, string | null>>): Fetch {
  return (input, init) => {
    const headers = new HeaderList();
    const given = readable(init?.headers);
    for (const name of sdkHeaders) {
      const value = given.get(name);
      if (value !== null) headers.set(name, value);
    }
    for (const [name, value] of Object.entries(own)) {
      if (value === null) headers.delete(name);
      else headers.set(name, value);
    }
    return fetch(input, { ...init, headers: Object.fromEntries(headers) });
  };
}

/** A list of an SDK is used as it is: going through all of it sorts it first. */
function readable(headers: RequestInit["headers"]): Pick<Headers, "get"> {
  const isList = headers instanceof Object && "get" in headers && typeof headers.get === "function";
  return isList ? (headers as Headers) : new HeaderList(headers);
}
