import { SessionStoreError } from "../../log/store/session-store.ts";

/**
 * Reads the URL of a store, without the parameter that only the store knows: a driver would take it for an
 * option of its own.
 *
 * @param protocols - what the URL may begin with
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
    // Without the text: it may contain a password.
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
