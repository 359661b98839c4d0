import type { HostRequestMethod } from "../vocabulary/constants.ts";
import type { ExtensionUiRequest, ExtensionUiResponse } from "../vocabulary/extension-ui.ts";
import type { BudgetParams, BudgetResult, OpenHostRequest } from "../vocabulary/host-request.ts";
import type { ApprovalResult } from "../vocabulary/permission.ts";
import { titleOfCall } from "./approval-title.ts";

const ONCE = "Allow once";
const SESSION = "Allow for this session";
const DENY = "Deny";
const STOP = "Stop";

/** The host requests that dialogs can express: {@link asDialog}, and {@link QuestionDialogs}. */
export const dialogMethods: readonly HostRequestMethod[] = [
  "dialog",
  "tool_approval",
  "budget",
  "question",
];

/**
 * A host request as a dialog, for clients that know no host requests; undefined if no dialog can express it.
 *
 * @param now - ms since the epoch, for the remaining time
 */
export function asDialog(request: OpenHostRequest, now: number): ExtensionUiRequest | undefined {
  const { id } = request;
  switch (request.method) {
    case "dialog":
      return { type: "extension_ui_request", id, ...request.params };
    case "tool_approval": {
      const { params, agentId } = request;
      const session = params.suggestions.length === 0 ? [] : [SESSION];
      const title = titleOfCall(params, agentId);
      return select(request, title, [ONCE, ...session, DENY], now);
    }
    case "budget":
      return select(request, request.params.title, [raiseOption(request.params), STOP], now);
    default:
      return undefined;
  }
}

/** Converts the answer to such a dialog. Only an exact option is accepted; anything else counts as no. */
export function resultOfDialog(
  request: OpenHostRequest,
  { value, confirmed, cancelled }: Omit<ExtensionUiResponse, "type" | "id">,
): unknown {
  const text = cancelled === true ? undefined : value;
  switch (request.method) {
    case "tool_approval":
      return approvalOf(text, request.params.suggestions.length > 0);
    case "budget":
      return budgetAnswer(text, request.params);
    case "dialog":
      if (request.params.method === "confirm") {
        return cancelled === true ? { cancelled } : { confirmed: confirmed === true };
      }
      return text === undefined ? { cancelled: true } : { value: text };
    default:
      return undefined;
  }
}

function approvalOf(text: string | undefined, hasSuggestions: boolean): ApprovalResult {
  if (text === ONCE) return { decision: "allow", scope: "once" };
  if (text === SESSION && hasSuggestions) return { decision: "allow", scope: "session" };
  if (text === undefined || text === DENY || text.trim() === "") return { decision: "deny" };
  return { decision: "deny", message: text };
}

function budgetAnswer(text: string | undefined, params: BudgetParams): BudgetResult {
  return text === raiseOption(params) ? { limit: raisedLimit(params) } : { stop: true };
}

function raiseOption(params: BudgetParams): string {
  return `Continue with ${raisedLimit(params)}`;
}

/** Twice the limit, or more if the usage already exceeds that. */
function raisedLimit({ limit, used }: BudgetParams): number {
  if (limit * 2 > used) return limit * 2;
  return used > 0 ? used * 2 : 1;
}

function select(
  { id, deadlineAt }: OpenHostRequest,
  title: string,
  options: string[],
  now: number,
): ExtensionUiRequest {
  const left = deadlineAt === undefined ? {} : { timeout: Math.max(1, deadlineAt - now) };
  return { type: "extension_ui_request", id, method: "select", title, options, ...left };
}
