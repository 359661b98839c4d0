import type { Model } from "@tau-agent/rpc-protocol/messages";

/** The model flag, for each wire format, that allows declaring further tools between messages. */
const flags: Readonly<Record<string, string>> = {
  "anthropic-messages": "supportsMidConvoToolChanges",
  "openai-completions": "supportsMidConvoToolAdditions",
  "openai-responses": "supportsAdditionalTools",
  "azure-openai-responses": "supportsAdditionalTools",
  "openai-codex-responses": "supportsAdditionalTools",
};

/**
 * Whether tools can be declared to a model between two messages. If not, a different list of tools changes
 * the beginning of the request, and the vendor's cache of the conversation is lost.
 */
export function appendsTools({ api, compat = {} }: Model): boolean {
  const flag = Object.hasOwn(flags, api) ? flags[api] : undefined;
  return flag !== undefined && compat[flag] === true;
}
