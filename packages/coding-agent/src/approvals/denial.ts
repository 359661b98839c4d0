import type { BeforeToolCallResult } from "@tau-agent/agent";
import type { PermissionMode, SourcedRule } from "@tau-agent/rpc-protocol";
import type { ClosedBy } from "@tau-agent/system";
import { describeRule } from "../permissions/rules/rule.ts";

type DeniedBy = "client" | "rule" | "mode" | "timeout" | "abort" | "nobody";

export interface Denial {
  readonly by: DeniedBy;
  /** The text for the model, after `Denied`. */
  readonly text: string;
  readonly message?: string | undefined;
}

/** A denial by a rule, or by the mode if no rule matches. */
export function deniedByPolicy(
  toolName: string,
  mode: PermissionMode,
  rule: SourcedRule | undefined,
): Denial {
  if (rule !== undefined) return { by: "rule", text: ` by ${describeRule(rule)}.` };
  const text = `: the permission mode is ${mode}, which does not allow ${toolName} without a rule.`;
  return { by: "mode", text };
}

/** A denial that follows from how the question ended. */
export function deniedByAnswer(
  by: ClosedBy,
  message: string | undefined,
  isFailed = false,
): Denial {
  // The reason is meant for the program's developer, who finds it in the diagnostics.
  if (isFailed) return { by: "client", text: ": the approval could not be asked for." };
  switch (by) {
    case "client": {
      if (message === undefined || message.trim() === "") return { by, text: " by the user." };
      return { by, text: ` by the user: ${message}`, message };
    }
    case "timeout":
      return { by, text: ": nobody answered the question in time." };
    case "nobody":
      return { by, text: ": this call needs an approval, and nobody is there to give it." };
    case "rule":
      return { by, text: " by a rule that was added while the question was open." };
    default:
      return { by: "abort", text: ": the question was taken back before it was answered." };
  }
}

export function resultOfDenial({ by, text, message }: Denial): BeforeToolCallResult {
  const denied = { by, ...(message === undefined ? {} : { message }) };
  return { block: true, reason: `Denied${text}`, details: { denied } };
}
