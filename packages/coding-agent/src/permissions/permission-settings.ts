import type {
  OnTimeout,
  PermissionMode,
  PermissionRule,
  RuleSource,
  SourcedRule,
} from "@tau-agent/rpc-protocol";
import { isJsonObject, permissionModes } from "@tau-agent/rpc-protocol/plain";
import { type Diagnostic, readWord, UnreadGuard } from "@tau-agent/system";
import { denyAll, MAX_RULES, readRule } from "./rules/rule.ts";
import { stricterMode } from "./rules/stricter-mode.ts";

/** How long an approval waits by default, in ms. */
const DEFAULT_TIMEOUT_MS = 300_000;

/** The permissions that one file or caller asks for. */
export interface PermissionChange {
  readonly mode?: PermissionMode | undefined;
  readonly rules?: readonly PermissionRule[] | undefined;
  readonly onTimeout?: OnTimeout | undefined;
  readonly timeoutMs?: number | undefined;
}

/** An invalid member of permissions. */
interface PermissionProblem {
  readonly [member: string]: string;
  readonly field: string;
  readonly reason: string;
}

export interface ReadPermissions {
  readonly change: PermissionChange;
  readonly problems: readonly PermissionProblem[];
}

/** Reads permissions from a file or a command; only invalid members are dropped. */
export function readPermissions(value: unknown): ReadPermissions {
  if (value === undefined || value === null) return { change: {}, problems: [] };
  if (value instanceof UnreadGuard) {
    const reason = `${value.reason}; ${denies(denyAll)}`;
    return { change: { rules: [denyAll] }, problems: [{ field: "", reason }] };
  }
  if (!isJsonObject(value)) {
    return { change: {}, problems: [{ field: "", reason: "expected an object" }] };
  }
  const problems: PermissionProblem[] = [];
  const { mode, rules, onTimeout, timeoutMs, ...rest } = value;
  for (const name of Object.keys(rest)) {
    problems.push({ field: name, reason: "there is no such setting" });
  }
  const change = {
    mode: readWord("mode", mode, permissionModes, problems),
    rules: readRules(rules, problems),
    onTimeout: readWord("onTimeout", onTimeout, ["deny", "cancel"] as const, problems),
    timeoutMs: readTimeout(timeoutMs, problems),
  };
  return { change: withoutAbsent(change), problems };
}

/** The first problem of permissions; undefined if there is none. */
export function permissionProblem(value: unknown): PermissionProblem | undefined {
  return readPermissions(value).problems[0];
}

function withoutAbsent(change: PermissionChange): PermissionChange {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

function readRules(
  value: unknown,
  problems: PermissionProblem[],
): readonly PermissionRule[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) {
    problems.push({ field: "rules", reason: "expected a list of rules" });
    return undefined;
  }
  const rules = value.slice(0, MAX_RULES).flatMap((each: unknown, index): PermissionRule[] => {
    const read = readRule(each);
    if (!("field" in read)) return [read];
    const { field, reason, instead } = read;
    const member = field === "" ? "" : `.${field}`;
    const effect = instead === undefined ? "" : `; ${denies(instead)}`;
    problems.push({ field: `rules[${index}]${member}`, reason: `${reason}${effect}` });
    return instead === undefined ? [] : [instead];
  });
  const rest: readonly unknown[] = value.slice(MAX_RULES);
  if (rest.length === 0) return rules;
  const isLoss = rest.some((each) => !isJsonObject(each) || each.action !== "allow");
  const reason = `expected at most ${MAX_RULES} rules, got ${value.length}`;
  problems.push({ field: "rules", reason: isLoss ? `${reason}; ${denies(denyAll)}` : reason });
  return isLoss ? [...rules, denyAll] : rules;
}

function denies({ tool }: PermissionRule): string {
  const what = tool === denyAll.tool ? "every call" : `every call of ${tool}`;
  return `it may limit more than can be told, so ${what} is denied`;
}

function readTimeout(value: unknown, problems: PermissionProblem[]): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value);
  const reason = `expected a whole number of ms, got ${JSON.stringify(value)}`;
  problems.push({ field: "timeoutMs", reason });
  return undefined;
}

export interface PermissionFile {
  readonly path: string;
  readonly scope: "user" | "project";
  readonly value: unknown;
}

export interface SettledPermissions {
  readonly mode: PermissionMode;
  readonly rules: readonly SourcedRule[];
  readonly onTimeout: OnTimeout;
  readonly timeoutMs: number;
  /** Whether a member was invalid: the mode is then at least as strict as `ask`. */
  readonly isDamaged: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Merges the permissions of files, the weakest first. An untrusted project may only tighten them. If something could
 * not be read, the mode is the stricter of the configured one and `ask`.
 */
export function settlePermissions(
  files: readonly PermissionFile[],
  isProjectTrusted: boolean,
): SettledPermissions {
  const diagnostics: Diagnostic[] = [];
  const rules: SourcedRule[] = [];
  let mode: PermissionMode = "all";
  let onTimeout: OnTimeout = "deny";
  let timeoutMs = DEFAULT_TIMEOUT_MS;
  for (const { path, scope, value } of files) {
    const { change, problems } = readPermissions(value);
    diagnostics.push(...problems.map((problem) => diagnosticOf(problem, path)));
    if (scope === "user" || isProjectTrusted) {
      mode = change.mode ?? mode;
      onTimeout = change.onTimeout ?? onTimeout;
      timeoutMs = change.timeoutMs ?? timeoutMs;
      rules.push(...sourced(change.rules, scope));
    } else {
      mode = stricterMode(mode, change.mode ?? mode);
      rules.push(...sourced(change.rules, scope).filter(({ action }) => action !== "allow"));
    }
  }
  const isDamaged = diagnostics.length > 0;
  return {
    mode: isDamaged ? stricterMode(mode, "ask") : mode,
    rules,
    onTimeout,
    timeoutMs,
    isDamaged,
    diagnostics,
  };
}

export function sourced(
  rules: readonly PermissionRule[] = [],
  source: RuleSource,
): readonly SourcedRule[] {
  return rules.map((rule) => ({ ...rule, source }));
}

function diagnosticOf({ field, reason }: PermissionProblem, path: string): Diagnostic {
  const name = field === "" ? "permissions" : `permissions.${field}`;
  const message = `Invalid setting ${name}: ${reason}. It is ignored, and the mode is "ask" at least. (in ${path})`;
  return { severity: "error", code: "invalid_settings", message, path };
}
