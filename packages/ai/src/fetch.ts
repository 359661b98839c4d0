import { boundReplies } from "./bounded-reply.ts";
import { ProviderError } from "./errors.ts";
import { HeaderList } from "./transport/header-list.ts";

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const maxRedirects = 5;

type Fetch = typeof globalThis.fetch;

/**
 * Wraps `fetch` so that a request with a key never leaves for another origin: redirects within one
 * origin are followed, others refused.
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

/** Asked this way, because naming `Request` would load Node's whole `fetch`. */
function isRequest(input: string | URL | Request): input is Request {
  return typeof input !== "string" && !(input instanceof URL);
}

/** The request as a redirect asks for it; 307 and 308 keep method and body. */
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
 * The way to a vendor: credentials and headers are `own` and no others, they never leave for another
 * origin, and what comes back is bounded.
 */
export function vendorFetch(fetch: Fetch, own: Readonly<Record<string, string | null>>): Fetch {
  return withOwnHeaders(boundReplies(guardRedirects(fetch)), own);
}

/** What an SDK has to say itself: the form of the body and who it is. */
const sdkHeaders: ReadonlySet<string> = new Set([
  "accept",
  "anthropic-version",
  "content-type",
  "user-agent",
  "x-goog-api-client",
]);

/**
 * Wraps `fetch` so that credentials and extra headers are `own` and no others. SDKs add what they
 * find in the environment (`OPENAI_CUSTOM_HEADERS` and the like) whatever server they talk to; a
 * header meant for one vendor must not reach another. `null` deletes a header.
 */
function withOwnHeaders(fetch: Fetch, own: Readonly<Record<string, string | null>>): Fetch {
  return (input, init) => {
    const headers = new HeaderList();
    for (const [name, value] of new HeaderList(init?.headers)) {
      if (sdkHeaders.has(name)) headers.set(name, value);
    }
    for (const [name, value] of Object.entries(own)) {
      if (value === null) headers.delete(name);
      else headers.set(name, value);
    }
    return fetch(input, { ...init, headers: Object.fromEntries(headers) });
  };
}
