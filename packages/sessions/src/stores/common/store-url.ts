import { SessionStoreError } from "../../log/store/session-store.ts";

/**
 * Reads the URL of a store and removes the parameter that is meant for the store only: a driver would take
 * it for one of its own options.
 *
 * @param protocols - the allowed protocols of the URL
 * @throws {SessionStoreError} `invalid_argument`
 */
export function readStoreUrl(
  text: string,
  protocols: readonly string[],
  parameter: string,
): { readonly url: string; readonly value: string | undefined } {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    // The error must not include the URL, which may contain a password.
    throw new SessionStoreError("invalid_argument", "url is not a URL");
  }
  if (!protocols.includes(url.protocol)) {
    throw new SessionStoreError(
      "invalid_argument",
      `url must begin with ${protocols.join(" or ")}`,
    );
  }
  const value = url.searchParams.get(parameter) ?? undefined;
  url.searchParams.delete(parameter);
  return { url: url.href, value };
}
