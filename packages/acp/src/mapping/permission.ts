import type {
  PermissionOption,
  RequestPermissionOutcome,
  ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import type { ApprovalParams, ApprovalResult, FileChange } from "@tau-agent/coding-agent";
import { describeCall } from "./describe-call.ts";
import { changedPlace, fileDiff } from "./file-diff.ts";

const once: readonly PermissionOption[] = [
  { optionId: "allow_once", name: "Allow once", kind: "allow_once" },
  { optionId: "reject_once", name: "Reject", kind: "reject_once" },
];
const always: readonly PermissionOption[] = [
  { optionId: "allow_always", name: "Always allow", kind: "allow_always" },
  { optionId: "reject_always", name: "Reject for this session", kind: "reject_always" },
];

/**
 * The options of a permission request. A call that no rule can describe has no lasting option, and under a policy of
 * the host no call can be allowed for good.
 */
export function permissionOptions(
  { suggestions }: ApprovalParams,
  isManaged = false,
): PermissionOption[] {
  const [allow, reject] = once;
  const [allowAlways, rejectAlways] = suggestions.length === 0 ? [] : always;
  return [allow, isManaged ? undefined : allowAlways, reject, rejectAlways].filter(
    (option) => option !== undefined,
  );
}

export function askedCall(
  params: ApprovalParams,
  call: { readonly toolCallId: string; readonly change: FileChange | undefined },
): ToolCallUpdate {
  const { toolName, input, cwd, reason } = params;
  const { title, kind, locations } = describeCall(toolName, input, cwd);
  const { toolCallId, change } = call;
  return {
    toolCallId,
    title,
    kind,
    status: "pending",
    locations: change === undefined ? locations : [changedPlace(change)],
    rawInput: input,
    content:
      change === undefined
        ? [{ type: "content", content: { type: "text", text: reason } }]
        : [fileDiff(change)],
  };
}

/** The user's decision; everything but an option that allows means no. */
export interface PermissionAnswer {
  readonly result: ApprovalResult;
  /** Whether the call's rules deny from now on. */
  readonly deniesFromNowOn: boolean;
}

export function permissionAnswer(
  outcome: RequestPermissionOutcome | undefined,
  options: readonly PermissionOption[],
): PermissionAnswer {
  const chosen =
    outcome?.outcome === "selected"
      ? options.find(({ optionId }) => optionId === outcome.optionId)?.kind
      : undefined;
  switch (chosen) {
    case "allow_once":
      return { result: { decision: "allow", scope: "once" }, deniesFromNowOn: false };
    case "allow_always":
      return { result: { decision: "allow", scope: "always" }, deniesFromNowOn: false };
    default:
      return { result: { decision: "deny" }, deniesFromNowOn: chosen === "reject_always" };
  }
}
