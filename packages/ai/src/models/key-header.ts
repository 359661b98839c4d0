/**
 * Headers in which a provider takes its key instead of where the wire format has it.
 *
 * Cloudflare's gateway keeps the vendors' own keys: a key in their header would be sent on to them.
 * https://developers.cloudflare.com/ai-gateway/configuration/authentication/
 */
const keyHeaders: Readonly<Record<string, string>> = {
  "cloudflare-ai-gateway": "cf-aig-authorization",
};

/** The header of a provider's key, with `Bearer` before it; undefined for the wire format's own. */
export function keyHeaderOf(provider: string): string | undefined {
  return Object.hasOwn(keyHeaders, provider) ? keyHeaders[provider] : undefined;
}
