import { SessionError } from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic } from "@tau-agent/system";

/** @param why - what the policy says, as the rest of a sentence */
export function policyDenied(member: string, why: string): SessionError {
  return new SessionError("policy_denied", { member, reason: `by the host's policy, ${why}` });
}

/** A diagnostic for a value in a file that the policy overrides. */
export function droppedByPolicy(member: string, message: string, path?: string): Diagnostic {
  const where = path === undefined ? "" : ` (in ${path})`;
  return {
    severity: "warning",
    code: "policy_denied",
    member,
    message: `${member} is limited by the host's policy: ${message}${where}`,
    ...(path === undefined ? {} : { path }),
  };
}
