import type { Model } from "@tau-agent/rpc-protocol/messages";

/** Which flag of a model says that it takes further tools between two messages, for each wire format. */
const flags: Readonly<Record<string, string>> = {
  "anthropic-messages": "supportsMidConvoToolChanges",
  "openai-completions": "supportsMidConvoToolAdditions",
  "openai-responses": "supportsAdditionalTools",
  "azure-openai-responses": "supportsAdditionalTools",
  "openai-codex-responses": "supportsAdditionalTools",
};

/**
 * Whether tools can be declared to a model between two messages. Where they cannot, another list of tools
 * changes the beginning of the request, and what the vendor has cached of the conversation is lost.
 */
export function appendsTools({ api, compat = {} }: Model): boolean {
  const flag = Object.hasOwn(flags, api) ? flags[api] : undefined;
  return flag !== undefined && compat[flag] === true;
}
