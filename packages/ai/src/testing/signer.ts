import { hashText } from "../request/short-id.ts";
import { rememberBoundThinking } from "./rules/bound-thinking.ts";
import { modelOf } from "./rules/common.ts";
import type { RuleMemory, RuleRequest } from "./rules/rule.ts";

/** Returns the signature for a scripted thinking block, given the scenario's signature if there is one. */
export type Signer = (scripted: string | undefined) => string | undefined;

/** Models whose thinking is valid only after the conversation in which it was made. */
const boundModels = /claude-(?:opus|sonnet|haiku)-5[.-]5|claude-fable-5[.-][12]/;

/**
 * Signs the thinking of a reply. A bound model signs all of it, and the server remembers the request, so that
 * a rule can detect thinking that is sent back after a different prefix.
 */
export function signerFor(request: RuleRequest, { signed }: RuleMemory): Signer {
  const isBound =
    request.api.startsWith("anthropic-") && boundModels.test(modelOf(request.body, request.path));
  if (!isBound) return (scripted) => scripted;
  return (scripted) => {
    const text = `${signed.size} ${JSON.stringify(request.body)}`;
    const signature = scripted ?? Buffer.from(`bound-${hashText(text)}`).toString("base64");
    rememberBoundThinking(request, [signature], signed);
    return signature;
  };
}
