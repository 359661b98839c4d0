import type { PermissionRule, SourcedRule } from "@tau-agent/rpc-protocol";
import { isJsonObject, ruleActions } from "@tau-agent/rpc-protocol/plain";

/** An invalid member of a rule. */
export interface RuleProblem {
  readonly field: string;
  readonly reason: string;
  /** The replacement for a restricting rule that cannot be read completely. */
  readonly instead?: PermissionRule;
}

/** More rules than people write or save with "always"; untrusted projects may have rules, too. */
export const MAX_RULES = 2000;
const MAX_NAME = 200;
/** The longest possible path. */
export const MAX_MATCH = 4096;

/** Replaces restricting rules that are too many or too long to be read: a failure must never allow more. */
export const denyAll: PermissionRule = { tool: "*", action: "deny" };

/** Tools that rules can only name without a `match`. */
const withoutMatch: ReadonlySet<string> = new Set(["task", "todo_write"]);

/** Reads a rule written by a person or a client. */
export function readRule(value: unknown): PermissionRule | RuleProblem {
  if (!isJsonObject(value)) return { field: "", reason: `expected an object, got ${shown(value)}` };
  const { tool, match = undefined, action, afterUntrusted } = value;
  if (typeof tool !== "string" || tool === "") {
    return { field: "tool", reason: `expected the name of a tool, got ${shown(tool)}` };
  }
  if (match !== undefined && match !== null && (typeof match !== "string" || match === "")) {
    return { field: "match", reason: `expected a pattern, got ${shown(match)}` };
  }
  if (typeof match === "string" && withoutMatch.has(tool)) {
    return { field: "match", reason: `${tool} has nothing to match; leave it out` };
  }
  const known = ruleActions.find((one) => one === action);
  if (known === undefined) {
    const wanted = ruleActions.map((one) => `"${one}"`).join(", ");
    return { field: "action", reason: `expected one of ${wanted}, got ${shown(action)}` };
  }
  if (afterUntrusted != null && typeof afterUntrusted !== "boolean") {
    const reason = `expected true or false, got ${shown(afterUntrusted)}`;
    // A restriction that is not understood must not be lifted, so the rule applies in any case.
    if (known === "allow") return { field: "afterUntrusted", reason };
    return { field: "afterUntrusted", reason, instead: { tool, action: "deny" } };
  }
  const later = afterUntrusted === true ? { afterUntrusted } : {};
  if (tool.length <= MAX_NAME && (match?.length ?? 0) <= MAX_MATCH) {
    return { tool, ...(typeof match === "string" ? { match } : {}), action: known, ...later };
  }
  const isName = tool.length > MAX_NAME;
  const limit = isName ? MAX_NAME : MAX_MATCH;
  const reason = `expected at most ${limit} characters`;
  const problem = { field: isName ? "tool" : "match", reason };
  if (known === "allow") return problem;
  return { ...problem, instead: isName ? denyAll : { tool, action: "deny" } };
}

export function describeRule({ tool, match, source, afterUntrusted }: SourcedRule): string {
  const places = {
    user: "the user's settings",
    project: "the project's settings",
    session: "this session",
    host: "the program that runs this session",
    policy: "the host's policy",
  };
  const what = match === undefined ? tool : `${tool} with "${match}"`;
  const when = afterUntrusted === true ? " after text from outside" : "";
  return `the rule for ${what}${when} of ${places[source]}`;
}

function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
