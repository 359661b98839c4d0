import type { Model } from "@tau-agent/rpc-protocol/messages";

/** Whether a base URL is the vendor's own, which supports every documented feature. */
export function isAnthropicHost(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && /(?:^|\.)anthropic\.com$/i.test(new URL(baseUrl).hostname);
}

/** Whether the server accepts cache marks for one hour: the vendor's own does, and others if they declare it. */
export function keepsAnHour({ baseUrl, compat }: Pick<Model, "baseUrl" | "compat">): boolean {
  const says = compat?.supportsLongCacheRetention;
  return typeof says === "boolean" ? says : isAnthropicHost(baseUrl);
}
