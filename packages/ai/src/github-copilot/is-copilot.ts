import type { Model } from "@tau-agent/rpc-protocol/messages";

/** Whether a model is served by GitHub Copilot, over any wire format. */
export function isCopilot({ provider, baseUrl }: Model): boolean {
  if (provider === "github-copilot") return true;
  return URL.canParse(baseUrl) && /(?:^|\.)githubcopilot\.com$/.test(new URL(baseUrl).hostname);
}
