import { hashText } from "../request/short-id.ts";
import { rememberBoundThinking } from "./rules/bound-thinking.ts";
import { modelOf } from "./rules/common.ts";
import type { RuleMemory, RuleRequest } from "./rules/rule.ts";

/** The signature of a scripted block of thinking, from that of the scenario if it has one. */
export type Signer = (scripted: string | undefined) => string | undefined;

/** Models whose thinking is valid only after the conversation it was made in. */
const boundModels = /claude-(?:opus|sonnet|haiku)-5[.-]5|claude-fable-5[.-][12]/;

/**
 * Signs the thinking of a reply. A bound model signs all of it, and the server remembers what the
 * request was, so that a rule can tell when the thinking comes back after another beginning.
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
