import { ToolError } from "@tau-agent/agent";
import type { ApprovalResult, PermissionRule } from "@tau-agent/rpc-protocol";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { Answer, AnswerProblem } from "@tau-agent/system";
import { readRule } from "../permissions/rules/rule.ts";

export interface ApprovalChecks {
  /** Throws if the tool does not accept these arguments. */
  readonly checkInput?: ((input: Record<string, unknown>) => void) | undefined;
  readonly isProjectTrusted: boolean;
  /** Whether the host's policy decides how long answers may last. */
  readonly isManaged?: boolean | undefined;
}

const scopes = ["once", "session", "always"] as const;
const places = ["user", "project"] as const;

export function readApprovalResult(
  result: unknown,
  checks: ApprovalChecks,
): Answer<ApprovalResult> {
  if (!isJsonObject(result)) return problem("result", "expected an object with a decision");
  const { decision } = result;
  if (decision === "deny") return readDenial(result);
  if (decision !== "allow") {
    return problem("result.decision", `expected "allow" or "deny", got ${shown(decision)}`);
  }
  const found =
    badWord("result.scope", result.scope, scopes) ??
    badWord("result.saveTo", result.saveTo, places) ??
    badPlace(result.saveTo, checks) ??
    badDuration(result.scope, checks) ??
    badInput(result.input, checks);
  if (found !== undefined) return found;
  const rules = readRules(result.rules);
  if (rules !== undefined && "field" in rules) return rules;
  const { scope, saveTo, input } = result;
  const given = Object.entries({ scope, saveTo, input, rules }).filter(
    ([, value]) => value != null,
  );
  const answer = { decision, ...Object.fromEntries(given) } as ApprovalResult;
  return { result: answer, outcome: "allow" };
}

function readDenial(result: Readonly<Record<string, unknown>>): Answer<ApprovalResult> {
  const { message, endRun } = result;
  if (message != null && typeof message !== "string") {
    return problem("result.message", `expected string, got ${shown(message)}`);
  }
  if (endRun != null && typeof endRun !== "boolean") {
    return problem("result.endRun", `expected boolean, got ${shown(endRun)}`);
  }
  return {
    result: {
      decision: "deny",
      ...(message == null ? {} : { message }),
      ...(endRun == null ? {} : { endRun }),
    },
    outcome: "deny",
  };
}

function badWord(
  field: string,
  value: unknown,
  words: readonly string[],
): AnswerProblem | undefined {
  if (value == null || words.some((word) => word === value)) return undefined;
  const wanted = words.map((word) => `"${word}"`).join(", ");
  return problem(field, `expected one of ${wanted}, got ${shown(value)}`);
}

function badPlace(
  saveTo: unknown,
  { isProjectTrusted }: ApprovalChecks,
): AnswerProblem | undefined {
  if (saveTo !== "project" || isProjectTrusted) return undefined;
  return problem("result.saveTo", "the project is not trusted, so its rules would not count");
}

function badDuration(scope: unknown, { isManaged }: ApprovalChecks): AnswerProblem | undefined {
  if (scope !== "always" || isManaged !== true) return undefined;
  const reason = 'by the host\'s policy, answers count "once" or for the "session"';
  return { ...problem("permissions.mode", reason), code: "policy_denied" };
}

function badInput(input: unknown, { checkInput }: ApprovalChecks): AnswerProblem | undefined {
  if (input == null) return undefined;
  if (!isJsonObject(input)) return problem("result.input", `expected object, got ${shown(input)}`);
  try {
    checkInput?.({ ...input });
    return undefined;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return problem("result.input", error.message);
  }
}

function readRules(value: unknown): PermissionRule[] | AnswerProblem | undefined {
  if (value == null) return undefined;
  if (!Array.isArray(value)) return problem("result.rules", `expected list, got ${shown(value)}`);
  const rules: PermissionRule[] = [];
  for (const [index, each] of value.entries()) {
    const read = readRule(each);
    if ("field" in read) {
      const member = read.field === "" ? "" : `.${read.field}`;
      return problem(`result.rules[${index}]${member}`, read.reason);
    }
    rules.push(read);
  }
  return rules;
}

function problem(field: string, reason: string): AnswerProblem {
  return { field, reason };
}

function shown(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value).slice(0, 60);
}
