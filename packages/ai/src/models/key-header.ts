/**
 * Headers for keys of providers that do not use the header of the wire format.
 *
 * Cloudflare's gateway stores the vendors' own keys; it would forward a key in their header.
 * https://developers.cloudflare.com/ai-gateway/configuration/authentication/
 */
const keyHeaders: Readonly<Record<string, string>> = {
  "cloudflare-ai-gateway": "cf-aig-authorization",
};

/** The header for a provider's key, sent with `Bearer`; undefined if it is the wire format's own. */
export function keyHeaderOf(provider: string): string | undefined {
  return Object.hasOwn(keyHeaders, provider) ? keyHeaders[provider] : undefined;
}
