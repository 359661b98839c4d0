import type { Model } from "@tau-agent/rpc-protocol/messages";

/** Whether a model is served by GitHub Copilot, over any wire format. */
export function isCopilot({ provider, baseUrl }: Model): boolean {
  if (provider === "github-copilot") return true;
  // Most addresses need no parsing, which takes longer; this runs for every request.
  if (!/githubcopilot\.com/i.test(baseUrl)) return false;
  return /(?:^|\.)githubcopilot\.com$/.test(URL.parse(baseUrl)?.hostname ?? "");
}
