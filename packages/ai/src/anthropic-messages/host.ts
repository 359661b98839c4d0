import type { Model } from "@tau-agent/rpc-protocol/messages";

/** Whether a base URL is the vendor's own, where every documented feature is there. */
export function isAnthropicHost(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && /(?:^|\.)anthropic\.com$/i.test(new URL(baseUrl).hostname);
}

/** Whether the server takes marks that ask for an hour: the vendor's own, and others that say so. */
export function keepsAnHour({ baseUrl, compat }: Pick<Model, "baseUrl" | "compat">): boolean {
  const says = compat?.supportsLongCacheRetention;
  return typeof says === "boolean" ? says : isAnthropicHost(baseUrl);
}
