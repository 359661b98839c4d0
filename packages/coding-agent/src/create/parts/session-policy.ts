import type { AgentTool } from "@tau-agent/agent";
import type { Diagnostic, SettingsStore } from "@tau-agent/system";
import { droppedByPolicy, policyDenied } from "../../policy/policy-denied.ts";
import { readPolicy } from "../../policy/read-policy.ts";
import type { SessionPolicy } from "../../policy/session-policy.ts";
import type { SessionSetup } from "../options/session-options.ts";

/**
 * The policy that the options name; undefined without one, and then nothing is loaded for it.
 *
 * @throws {SessionError} `invalid_option` naming the member that is wrong; `policy_denied` for an option
 * that asks for more
 */
export async function readSessionPolicy(options: SessionSetup): Promise<SessionPolicy | undefined> {
  const { policy: given, tools, taskDepth = 0 } = options;
  const policy = await sessionPolicy(given);
  if (policy === undefined) return undefined;
  // A profile's tools are left out.
  const named = taskDepth > 0 ? [] : [...(tools?.only ?? []), ...customNames(options)];
  for (const name of named) {
    if (!/^-|[*]/.test(name)) policy.requireTool(name.replace(/^[+]/, ""));
  }
  policy.requireServers(taskDepth > 0 ? [] : Object.keys(options.mcpServers ?? {}));
  return policy;
}

/**
 * The options with the durability that the policy wants at least.
 *
 * @throws {SessionError} `policy_denied` for an option that asks for less
 */
export function withDurabilityOf(
  policy: SessionPolicy | undefined,
  options: SessionSetup,
): SessionSetup {
  if (policy?.merged.durability !== "effects") return options;
  if (options.durability === "log") throw policyDenied("durability", WANTS_EFFECTS);
  return { ...options, durability: "effects" };
}

/** What settings say that the policy does not let count. */
export function weakerDurability(
  policy: SessionPolicy | undefined,
  settings: SettingsStore,
): readonly Diagnostic[] {
  const isWeaker = settings.has("durability") && settings.get("durability") === "log";
  if (!isWeaker || policy?.merged.durability !== "effects") return [];
  return [droppedByPolicy("durability", `The settings say log, and ${WANTS_EFFECTS}.`)];
}

const WANTS_EFFECTS = "effects survive the host";

function customNames({ customTools = [] }: SessionSetup): readonly string[] {
  return customTools.map(({ name }) => name);
}

/** What settings and extensions bring of tools that the policy leaves out. */
export function leftOutByPolicy(
  policy: SessionPolicy | undefined,
  settings: SettingsStore,
  ofExtensions: readonly AgentTool[] = [],
): readonly Diagnostic[] {
  if (policy === undefined) return [];
  const named = (settings.get("defaultTools") ?? []).filter((pattern) => !/^-|[*]/.test(pattern));
  const names = [
    ...named.map((pattern) => ({ name: pattern.replace(/^[+]/, ""), from: "The settings name" })),
    ...ofExtensions.map(({ name }) => ({ name, from: "An extension brings" })),
  ];
  return names.flatMap(({ name, from }) => {
    const member = policy.memberAgainstTool(name);
    return member === undefined ? [] : [droppedByPolicy(member, `${from} ${name}.`)];
  });
}

/**
 * The policies together; undefined for none.
 *
 * @throws {SessionError} `invalid_option` naming the member that is wrong
 */
export async function sessionPolicy(
  given: SessionSetup["policy"],
): Promise<SessionPolicy | undefined> {
  const each: readonly unknown[] = given === undefined ? [] : [given].flat();
  if (each.length === 0) return undefined;
  const { SessionPolicy } = await import("../../policy/session-policy.ts");
  // A copy: it cannot change while the session lives.
  return new SessionPolicy(each.map((one) => structuredClone(readPolicy(one))));
}
