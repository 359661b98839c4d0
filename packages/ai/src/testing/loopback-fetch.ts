import { hostHeader } from "./vendors/vendor.ts";

/**
 * A `fetch` that sends every request to a loopback server instead of the intended vendor, and tells the
 * server the original address.
 */
export function loopbackFetch({ url }: { readonly url: string }): typeof globalThis.fetch {
  return (input, init) => {
    const target = new URL(input instanceof Request ? input.url : input);
    const headers = new Headers(input instanceof Request ? input.headers : undefined);
    for (const [name, value] of new Headers(init?.headers)) headers.set(name, value);
    headers.set(hostHeader, target.host);
    return globalThis.fetch(new URL(target.pathname + target.search, url), { ...init, headers });
  };
}
