import type {
  CallPart,
  PermissionMode,
  PermissionRule,
  RuleAction,
  SourcedRule,
} from "@tau-agent/rpc-protocol";
import { ruleActions } from "@tau-agent/rpc-protocol/plain";
import { escapeCommand, escapeGlob } from "@tau-agent/system";
import { type CompiledRule, fits, isAboutParts } from "./fit.ts";
import { MAX_MATCH } from "./rule.ts";
import type { RuleFolders, Subject } from "./subject.ts";

/** The rules and the mode that calls are judged by. */
export interface Policy {
  readonly mode: PermissionMode;
  /** The mode of the host's policy: only an answer can allow what it asks about, and nothing what it denies. */
  readonly ceiling?: PermissionMode | undefined;
  /** Whether foreign text came after the last message from a person. */
  readonly isAfterUntrusted?: boolean;
  /** The rules that answers have added. */
  readonly granted?: ReadonlySet<SourcedRule> | undefined;
  readonly rules: readonly CompiledRule[];
  readonly folders: RuleFolders;
}

export interface Verdict {
  readonly action: RuleAction;
  /** The deciding rule; undefined if the mode decides. */
  readonly rule: SourcedRule | undefined;
  /** Whether a rule asks about at least one part. */
  readonly isAskedByRule: boolean;
  /** Whether the host's policy denies, which no answer can change. */
  readonly isDeniedByPolicy: boolean;
  /** Why the parts of a shell line cannot be judged. */
  readonly opaque: string | undefined;
  readonly parts: readonly CallPart[] | undefined;
  readonly suggestions: readonly PermissionRule[];
}

interface Judgement {
  readonly subject: Subject;
  readonly action: RuleAction;
  readonly rule?: SourcedRule | undefined;
  /** The decision by the mode of the host's policy. */
  readonly closed: RuleAction;
}

export function judge(subjects: readonly Subject[], policy: Policy): Verdict {
  const judgements = subjects.map((subject) => judgeSubject(subject, policy));
  const strictest = judgements.reduce((a, b) => (isStricter(b.action, a.action) ? b : a));
  const asked = judgements.filter(({ action }) => action === "ask");
  const isAskedByRule = asked.some(({ rule }) => rule !== undefined);
  const opaque = subjects.find((subject) => subject.kind === "opaque")?.reason;
  const isOriginal = subjects.some(
    (subject) => subject.kind === "path" && subject.paths.some((path) => path.isOriginal),
  );
  const canSuggest =
    strictest.action === "ask" && !isAskedByRule && opaque === undefined && !isOriginal;
  return {
    action: strictest.action,
    rule: strictest.rule,
    isAskedByRule,
    isDeniedByPolicy: judgements.some(({ closed }) => closed === "deny"),
    opaque,
    parts: subjects.some(isOfLine) ? partsOf(judgements) : undefined,
    suggestions: canSuggest ? suggestionsFor(asked, policy.folders) : [],
  };
}

function isStricter(one: RuleAction, other: RuleAction): boolean {
  return ruleActions.indexOf(one) > ruleActions.indexOf(other);
}

function judgeSubject(subject: Subject, policy: Policy): Judgement {
  const { mode, rules, ceiling } = policy;
  const closed =
    ceiling === undefined ? "allow" : actionOfMode(subject, { ...policy, mode: ceiling });
  const fitting = rules
    .filter((compiled) => isInForce(compiled, policy) && fits(compiled, subject))
    .map(({ rule }) => rule)
    // In readOnly mode, a project's rules must not allow anything.
    .filter(
      ({ action, source }) => mode !== "readOnly" || action !== "allow" || source !== "project",
    )
    .filter(
      (rule) =>
        rule.action !== "allow" ||
        closed === "allow" ||
        (closed === "ask" && policy.granted?.has(rule) === true),
    );
  const rule = strictestRule(fitting);
  const action = rule?.action ?? actionOfMode(subject, policy);
  if (subject.kind !== "opaque" || action !== "allow") return { subject, action, rule, closed };
  // The part that cannot be judged may be something that a rule denies.
  const evaded = rules.find((each) => isInForce(each, policy) && isAboutParts(each))?.rule;
  return evaded === undefined
    ? { subject, action, rule, closed }
    : { subject, action: "ask", rule: evaded, closed };
}

function isInForce({ rule }: CompiledRule, { isAfterUntrusted = false }: Policy): boolean {
  return rule.afterUntrusted !== true || isAfterUntrusted;
}

function strictestRule(rules: readonly SourcedRule[]): SourcedRule | undefined {
  return ["deny", "ask", "allow"]
    .map((action) => rules.find((rule) => rule.action === action))
    .find((rule) => rule !== undefined);
}

function actionOfMode(subject: Subject, { mode, folders }: Policy): RuleAction {
  const { tool } = subject;
  if (mode === "all" || tool.isReadOnly || tool.isNeverAsked) return "allow";
  // The command that it starts is judged separately.
  if (subject.kind === "command" && subject.isWrapper) return "allow";
  if (mode === "acceptEdits" && isOwnEdit(subject, folders)) return "allow";
  return mode === "readOnly" ? "deny" : "ask";
}

/** Files that determine what runs later must not be edited without a question. */
const guarded = /(?:^|\/)(?:\.git|\.pi)(?:\/|$)|(?:^|\/)\.mcp\.json$/i;

function isOwnEdit(subject: Subject, { realRoots }: RuleFolders): boolean {
  if (subject.kind !== "path") return false;
  if (subject.tool.name !== "edit" && subject.tool.name !== "write") return false;
  return subject.paths.every(
    ({ real, isOriginal }) => isOriginal !== true && isOrdinaryFile(real, realRoots),
  );
}

/** Whether a file is below one of the folders and does not determine what runs later. */
function isOrdinaryFile(path: string, folders: readonly string[]): boolean {
  const around = folders.filter((folder) => path.startsWith(`${folder}/`));
  const isGuarded = around.some((folder) => guarded.test(path.slice(folder.length + 1)));
  return around.length > 0 && !isGuarded;
}

function isOfLine({ kind, tool }: Subject): boolean {
  return kind === "command" || (kind === "opaque" && tool.name === "bash");
}

function partsOf(judgements: readonly Judgement[]): CallPart[] {
  return judgements.flatMap(({ subject, action, rule }) => {
    return textsOf(subject).map((text) => ({
      text,
      action,
      ...(rule === undefined ? {} : { rule }),
    }));
  });
}

function textsOf(subject: Subject): readonly string[] {
  if (subject.kind === "opaque") return subject.commands;
  if (subject.kind === "command") return [subject.text];
  return subject.kind === "path" ? [`> ${subject.text}`] : [];
}

function suggestionsFor(
  asked: readonly Judgement[],
  { realCwd }: RuleFolders,
): readonly PermissionRule[] {
  const rules = asked.map(({ subject }): PermissionRule => {
    const tool = escapeGlob(subject.tool.name);
    const match = matchOf(subject, realCwd);
    return { tool, ...(match === undefined ? {} : { match }), action: "allow" };
  });
  // If a rule cannot be saved completely, the same question would come again.
  if (rules.some(({ match = "" }) => match.length > MAX_MATCH)) return [];
  return [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()];
}

function matchOf(subject: Subject, realCwd: string): string | undefined {
  if (subject.kind === "command") return escapeCommand(subject.text);
  if (subject.kind === "host") return subject.host;
  if (subject.kind === "uri") return escapeGlob(subject.uri);
  const real = subject.kind === "path" ? subject.paths[0]?.real : undefined;
  if (real === undefined) return undefined;
  if (!real.startsWith(`${realCwd}/`)) return escapeGlob(real);
  const path = escapeGlob(real.slice(realCwd.length + 1));
  return path.startsWith("~") ? `./${path}` : path;
}
