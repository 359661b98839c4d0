import type { ManagedPolicy } from "@tau-agent/rpc-protocol";
import {
  durabilities,
  isJsonObject,
  type JsonObject,
  nearestHint,
  permissionModes,
  SessionError,
  sandboxModes,
} from "@tau-agent/rpc-protocol/plain";
import { readRule } from "../permissions/rules/rule.ts";

/** Returns what a value should be; undefined if it is valid. */
type Check = (value: unknown, member: string) => string | undefined;

/**
 * Reads a policy. Nothing in it is ignored, because a limit that is not understood must not be lifted.
 *
 * @param option - how errors name the policy
 * @throws {SessionError} `invalid_option`, naming the first invalid member
 */
export function readPolicy(value: unknown, option = "policy"): ManagedPolicy {
  const reason = checkPolicy(value, "");
  if (reason !== undefined) throw new SessionError("invalid_option", { option, reason });
  return value as ManagedPolicy;
}

const texts = list((value) => typeof value === "string" && value !== "", "a list of texts");
const domains = list(
  (value) => typeof value === "string" && /^(?:\*\.)?[^*\s/]+$/.test(value),
  `"off", "all" or a list of domains such as "example.com" and "*.example.com"`,
);

const checkPolicy = object({
  permissions: object({ mode: oneOf(permissionModes), rules: checkRules }),
  sandbox: object({
    mode: oneOf(sandboxModes),
    network: (value, member) =>
      value === "off" || value === "all" ? undefined : domains(value, member),
    write: texts,
  }),
  tools: object({ allow: texts, deny: texts }),
  models: texts,
  mcpServers: texts,
  extensions: falseOr(texts),
  workspaces: falseOr(texts),
  durability: oneOf(durabilities),
});

function object(members: Readonly<Record<string, Check>>): Check {
  return (value, member) => {
    if (!isJsonObject(value)) return wrong(member, "an object", value);
    return Object.entries(value)
      .map(([name, each]) => checkMember(name, each, { members, member, object: value }))
      .find((problem) => problem !== undefined);
  };
}

function checkMember(
  name: string,
  value: unknown,
  within: { members: Readonly<Record<string, Check>>; member: string; object: JsonObject },
): string | undefined {
  const { members, member } = within;
  const path = member === "" ? name : `${member}.${name}`;
  const check = Object.hasOwn(members, name) ? members[name] : undefined;
  if (check !== undefined) return value === undefined ? undefined : check(value, path);
  const names = Object.keys(members);
  const hint = nearestHint(name, names) || `; there are ${names.join(", ")}`;
  return `${path}: there is no such member${hint}`;
}

function oneOf(words: readonly string[]): Check {
  const wanted = `one of ${words.map((word) => `"${word}"`).join(", ")}`;
  return (value, member) =>
    words.some((word) => word === value) ? undefined : wrong(member, wanted, value);
}

function list(accepts: (value: unknown) => boolean, wanted: string): Check {
  return (value, member) =>
    Array.isArray(value) && value.every(accepts) ? undefined : wrong(member, wanted, value);
}

function falseOr(check: Check): Check {
  return (value, member) => {
    const problem = value === false ? undefined : check(value, member);
    return problem?.replace("expected a", "expected false or a");
  };
}

function checkRules(value: unknown, member: string): string | undefined {
  if (!Array.isArray(value)) return wrong(member, "a list of rules", value);
  for (const [index, each] of value.entries()) {
    const rule = readRule(each);
    const at = `${member}[${index}]`;
    if ("field" in rule) return `${rule.field === "" ? at : `${at}.${rule.field}`}: ${rule.reason}`;
    if (rule.action === "allow") return wrong(`${at}.action`, `one of "ask", "deny"`, "allow");
    const unknown = Object.keys(each).find(
      (name) => !["tool", "match", "action", "afterUntrusted"].includes(name),
    );
    if (unknown !== undefined) return `${at}.${unknown}: there is no such member`;
  }
  return undefined;
}

function wrong(member: string, wanted: string, value: unknown): string {
  const shown = (JSON.stringify(value) ?? "nothing").slice(0, 60);
  return `${member === "" ? "" : `${member}: `}expected ${wanted}, got ${shown}`;
}
